import { createApiError, type Actor } from "@payment-links/contracts";
import type { Caller } from "@payment-links/identity";
import type { Transaction } from "@payment-links/postgres";
import { type Identity, type ProvenIdentity, identitiesMax } from "../domain/identity.ts";
import { insertAudit } from "../store/audit-log.ts";
import { insertIdentity, listIdentities, lockIdentity } from "../store/identities.ts";
import { lockCallerAccount } from "../store/sessions.ts";

type IdentityLinkInput = {
  id: string;
  provenIdentity: ProvenIdentity;
  caller: Caller;
  actor: Actor;
  now: Date;
};

/**
 * Links a proven identity to the caller's account. An identity that is already linked to it stays
 * unchanged. Throws the API errors IDENTITY_TAKEN and IDENTITY_LIMIT.
 */
export const linkProvenIdentity = async (
  tx: Transaction,
  { id, provenIdentity, caller, actor, now }: IdentityLinkInput,
): Promise<Identity> => {
  const accountId = caller.account.id;
  const storedIdentity = await lockIdentity(tx, provenIdentity);
  if (storedIdentity !== undefined) {
    if (storedIdentity.accountId !== accountId) throw createApiError("IDENTITY_TAKEN");
    return storedIdentity;
  }
  await lockCallerAccount(tx, caller);
  if ((await listIdentities(tx, accountId)).length >= identitiesMax)
    throw createApiError("IDENTITY_LIMIT");
  const { method, issuer, subject } = provenIdentity;
  const identity = { id, accountId, method, issuer, subject, dateCreated: now };
  await insertIdentity(tx, identity);
  await insertAudit(tx, {
    at: now,
    accountId,
    actor,
    action: "identity.linked",
    targetId: id,
    detail: { method, issuer, subject },
  });
  return identity;
};
