import type { Request } from "express";
import type { Account } from "@payment-links/contracts";
import { createSessionActor } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Transaction } from "@payment-links/postgres";
import { type AccountPatch, applyAccountPatch } from "../domain/account.ts";
import { publishAccount, updateAccount } from "../store/accounts.ts";
import { insertAudit } from "../store/audit-log.ts";
import { claimHandle } from "../store/handles.ts";
import { lockCallerAccount } from "../store/sessions.ts";

type ProfileChange = {
  req: Request;
  caller: Caller;
  patch: AccountPatch;
  now: Date;
  /** Called if the profile image changes. Its stored bytes must change in the same transaction. */
  onImageChange: (tx: Transaction, accountId: string) => Promise<void>;
};

/** Changes the profile of the caller's account, and publishes the account if anything changed. */
export const changeProfile = async (
  tx: Transaction,
  { req, caller, patch, now, onImageChange }: ProfileChange,
): Promise<Account> => {
  const previousAccount = await lockCallerAccount(tx, caller);
  const { updatedAccount, changedFields } = applyAccountPatch(previousAccount, patch);
  if (changedFields.length === 0) return previousAccount;
  const { id: accountId, handle } = updatedAccount;
  if (handle !== null && handle !== previousAccount.handle) {
    await claimHandle(tx, { accountId, handle, now });
  }
  if (changedFields.includes("profileImage")) await onImageChange(tx, accountId);
  await updateAccount(tx, updatedAccount);
  await insertAudit(tx, {
    at: now,
    accountId,
    actor: createSessionActor(req, caller.credential),
    action: "account.changed",
    detail: { fields: changedFields, handle },
  });
  return publishAccount(tx, accountId, now);
};
