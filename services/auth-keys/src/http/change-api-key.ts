import type { Request, Response } from "express";
import { type Actor, ApiKeyChange, refuse } from "@payment-links/contracts";
import { answerJson, personActor, readBody, readParam } from "@payment-links/http";
import { type Caller, requirePresence } from "@payment-links/identity";
import { type Transaction, transact } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import {
  type ApiKey,
  type OwnLimit,
  isLooser,
  requireWithin,
  showApiKey,
} from "../domain/api-key.ts";
import {
  lockApiKey,
  lockApiKeysOfBucket,
  updateApiKeyActive,
  updateApiKeyLimits,
} from "../store/api-keys.ts";
import { insertAudit } from "../store/audit-log.ts";
import { lockCallersAccount } from "../store/sessions.ts";

type Change = { caller: Caller; actor: Actor; id: string; now: Date };

/** PATCH /console/api/api-keys/{id}: switches a key off, or on again, and limits it. */
export const changeApiKey = (deps: Deps) => async (req: Request, res: Response, caller: Caller) => {
  const id = readParam(req, "id");
  const { active, ...wanted } = await readBody(req, ApiKeyChange);
  const now = deps.clock.now();
  requireWithin(wanted, deps.limits.perKey);
  // Switching a key off must never wait; switching it on gives access, as a new key does.
  if (active === true) requirePresence(caller, now);
  const actor = personActor(req, caller.credential);
  const change: Change = { caller, actor, id, now };
  const isLimited = wanted.requestsPerMinute !== undefined || wanted.burst !== undefined;
  const key = await transact(deps.pool, async (tx) => {
    // Before the key, as everywhere. A rotation waits at the same lock, so that no successor is made
    // with the former limit.
    if (active === true || isLimited) await lockCallersAccount(tx, caller);
    const limited = isLimited ? await limit(tx, { ...change, wanted }) : undefined;
    const before = limited ?? (await lockApiKey(tx, { accountId: caller.account.id, id, now }));
    if (before === undefined) throw refuse("NOT_FOUND");
    return active === undefined ? before : switchKey(tx, before, active, change);
  });
  answerJson(res, 200, showApiKey(key));
};

type WantedLimit = {
  requestsPerMinute?: number | null | undefined;
  burst?: number | null | undefined;
};

/**
 * Limits a key with all that share its bucket, behind the account's lock. To loosen a limit needs a
 * proof of presence.
 */
const limit = async (
  tx: Transaction,
  { caller, actor, id, now, wanted }: Change & { wanted: WantedLimit },
): Promise<ApiKey | undefined> => {
  const accountId = caller.account.id;
  const keys = await lockApiKeysOfBucket(tx, { accountId, id, now });
  const before = keys.find((key) => key.id === id);
  if (before === undefined) return undefined;
  const { requestsPerMinute = before.requestsPerMinute, burst = before.burst } = wanted;
  const after: OwnLimit = { requestsPerMinute, burst };
  if (isLooser(after, before)) requirePresence(caller, now);
  await updateApiKeyLimits(tx, { ids: keys.map((key) => key.id), ...after });
  const action = "api_key.limited";
  await insertAudit(tx, { at: now, accountId, actor, action, targetId: id, detail: after });
  return { ...before, ...after };
};

const switchKey = async (
  tx: Transaction,
  key: ApiKey,
  isActive: boolean,
  { caller, actor, id, now }: Change,
): Promise<ApiKey> => {
  if (key.isActive === isActive) return key;
  await updateApiKeyActive(tx, { id, isActive });
  await insertAudit(tx, {
    at: now,
    accountId: caller.account.id,
    actor,
    action: isActive ? "api_key.activated" : "api_key.deactivated",
    targetId: id,
  });
  return { ...key, isActive };
};
