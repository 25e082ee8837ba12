import type { Request, Response } from "express";
import {
  RotationBody,
  mintApiKey,
  newId,
  overlapSecondsDefault,
  refuse,
  shownKeyLength,
} from "@payment-links/contracts";
import { personActor, readBody, readParam } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import { type ApiKey, replacedKeysMax, rotateApiKey as decideRotation } from "../domain/api-key.ts";
import { countApiKeys, lockApiKey, updateApiKeyReplaced } from "../store/api-keys.ts";
import { insertAudit } from "../store/audit-log.ts";
import { lockCallersAccount } from "../store/sessions.ts";
import { answerIssuedKey, issueApiKey } from "./issue-api-key.ts";

/**
 * POST /console/api/api-keys/{id}/rotate: a new key replaces one (rule CALLER-5). It is shown in
 * this answer and never again.
 */
export const rotateApiKey = (deps: Deps) => async (req: Request, res: Response, caller: Caller) => {
  const keyId = readParam(req, "id");
  const { overlapSeconds } = await readBody(req, RotationBody);
  const secret = mintApiKey(deps.apiKeyMode);
  const now = deps.clock.now();
  const rotation = {
    id: newId("key"),
    prefix: secret.slice(0, shownKeyLength),
    overlapSeconds: overlapSeconds ?? overlapSecondsDefault,
    now,
  };
  const accountId = caller.account.id;
  const actor = personActor(req, caller.credential);
  const key = await transact(deps.pool, async (tx): Promise<ApiKey> => {
    // Behind the account's lock, as for a new key: the limits count all keys at once.
    await lockCallersAccount(tx, caller);
    const before = await lockApiKey(tx, { accountId, id: keyId, now });
    if (before === undefined) throw refuse("NOT_FOUND");
    const { opened, replaced } = decideRotation(before, rotation);
    const { replacedCount } = await countApiKeys(tx, { accountId, now });
    // One that ends now leaves no further one that works.
    const isKept = replaced.expiresAt > now;
    if (isKept && replacedCount >= replacedKeysMax) throw refuse("API_KEY_LIMIT");
    await issueApiKey(tx, { caller, actor, key: opened, secret });
    await updateApiKeyReplaced(tx, replaced);
    await insertAudit(tx, {
      at: now,
      accountId,
      actor,
      action: "api_key.rotated",
      targetId: keyId,
      detail: { replacedBy: opened.id, expiresAt: replaced.expiresAt.toISOString() },
    });
    return opened;
  });
  answerIssuedKey(res, key, secret);
};
