import type { Request, Response } from "express";
import { type Actor, ApiKeyChange, createApiError } from "@payment-links/contracts";
import {
  sendJson,
  createSessionActor,
  readJsonBody,
  parsePathParameter,
} from "@payment-links/http";
import { type Caller, requirePresence } from "@payment-links/identity";
import { type Transaction, transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import {
  type ApiKey,
  type KeyRateLimit,
  isLimitRaised,
  requireWithinInstallationLimit,
  serializeApiKey,
} from "../domain/api-key.ts";
import {
  lockApiKey,
  lockApiKeysOfBucket,
  updateApiKeyActive,
  updateApiKeyLimits,
} from "../store/api-keys.ts";
import { insertAudit } from "../store/audit-log.ts";
import { lockCallerAccount } from "../store/sessions.ts";

type KeyChange = { caller: Caller; actor: Actor; id: string; now: Date };

/** PATCH /console/api/api-keys/{id}: deactivates or reactivates a key, or changes its rate limit. */
export const changeApiKey =
  (dependencies: Dependencies) => async (req: Request, res: Response, caller: Caller) => {
    const id = parsePathParameter(req, "id");
    const { active, ...requestedLimit } = await readJsonBody(req, ApiKeyChange);
    const now = dependencies.clock.now();
    requireWithinInstallationLimit(requestedLimit, dependencies.limits.perKey);
    // Deactivating a key never requires a proof of presence. Reactivating a key grants access, as
    // creating one does.
    if (active === true) requirePresence(caller, now);
    const actor = createSessionActor(req, caller.credential);
    const keyChange: KeyChange = { caller, actor, id, now };
    const isLimitRequested =
      requestedLimit.requestsPerMinute !== undefined || requestedLimit.burst !== undefined;
    const key = await transact(dependencies.pool, async (tx) => {
      // Locks the account before the key, which is the lock order everywhere. A rotation waits for
      // the same lock, so that its new key cannot inherit the previous limit.
      if (active === true || isLimitRequested) await lockCallerAccount(tx, caller);
      const limitedKey = isLimitRequested
        ? await updateLimits(tx, { ...keyChange, requestedLimit })
        : undefined;
      const storedKey =
        limitedKey ?? (await lockApiKey(tx, { accountId: caller.account.id, id, now }));
      if (storedKey === undefined) throw createApiError("NOT_FOUND");
      return active === undefined ? storedKey : setKeyActive(tx, storedKey, active, keyChange);
    });
    sendJson(res, 200, serializeApiKey(key));
  };

type RequestedLimit = {
  requestsPerMinute?: number | null | undefined;
  burst?: number | null | undefined;
};

/**
 * Changes the limit of a key and of all keys that share its bucket, under the account's lock.
 * Raising a limit requires a proof of presence.
 */
const updateLimits = async (
  tx: Transaction,
  { caller, actor, id, now, requestedLimit }: KeyChange & { requestedLimit: RequestedLimit },
): Promise<ApiKey | undefined> => {
  const accountId = caller.account.id;
  const keys = await lockApiKeysOfBucket(tx, { accountId, id, now });
  const storedKey = keys.find((key) => key.id === id);
  if (storedKey === undefined) return undefined;
  const { requestsPerMinute = storedKey.requestsPerMinute, burst = storedKey.burst } =
    requestedLimit;
  const newLimit: KeyRateLimit = { requestsPerMinute, burst };
  if (isLimitRaised(newLimit, storedKey)) requirePresence(caller, now);
  await updateApiKeyLimits(tx, { ids: keys.map((key) => key.id), ...newLimit });
  const action = "api_key.limited";
  await insertAudit(tx, { at: now, accountId, actor, action, targetId: id, detail: newLimit });
  return { ...storedKey, ...newLimit };
};

const setKeyActive = async (
  tx: Transaction,
  key: ApiKey,
  isActive: boolean,
  { caller, actor, id, now }: KeyChange,
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
