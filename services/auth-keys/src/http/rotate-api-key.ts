import type { Request, Response } from "express";
import {
  RotateApiKeyBody,
  generateApiKey,
  newId,
  overlapSecondsDefault,
  createApiError,
  apiKeyPrefixLength,
} from "@payment-links/contracts";
import { createSessionActor, readJsonBody, parsePathParameter } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import {
  type ApiKey,
  replacedKeysMax,
  buildRotatedKeys as buildRotation,
} from "../domain/api-key.ts";
import { countApiKeys, lockApiKey, updateApiKeyReplaced } from "../store/api-keys.ts";
import { insertAudit } from "../store/audit-log.ts";
import { lockCallerAccount } from "../store/sessions.ts";
import { sendIssuedKey, issueApiKey } from "./issue-api-key.ts";

type RotatedKey = { key: ApiKey; secret: string };

/**
 * POST /console/api/api-keys/{id}/rotate: replaces a key with a new one of the same mode (rule
 * CALLER-5). Only this response contains the new secret.
 */
export const rotateApiKey =
  (dependencies: Dependencies) => async (req: Request, res: Response, caller: Caller) => {
    const keyId = parsePathParameter(req, "id");
    const { overlapSeconds } = await readJsonBody(req, RotateApiKeyBody);
    const now = dependencies.clock.now();
    const accountId = caller.account.id;
    const actor = createSessionActor(req, caller.credential);
    const { key, secret } = await transact(dependencies.pool, async (tx): Promise<RotatedKey> => {
      // Locks the account, as the creation of a key does, because the limits apply to all keys
      // together.
      await lockCallerAccount(tx, caller);
      const storedKey = await lockApiKey(tx, { accountId, id: keyId, now });
      if (storedKey === undefined) throw createApiError("NOT_FOUND");
      const secret = generateApiKey(storedKey.mode);
      const { newKey, replacedKey } = buildRotation(storedKey, {
        id: newId("key"),
        prefix: secret.slice(0, apiKeyPrefixLength),
        overlapSeconds: overlapSeconds ?? overlapSecondsDefault,
        now,
      });
      const { replacedCount } = await countApiKeys(tx, { accountId, now });
      // A replaced key that expires immediately does not count towards the limit of keys that still
      // work.
      const isStillValid = replacedKey.expiresAt > now;
      if (isStillValid && replacedCount >= replacedKeysMax) throw createApiError("API_KEY_LIMIT");
      await issueApiKey(tx, { accountId, actor, key: newKey, secret });
      await updateApiKeyReplaced(tx, replacedKey);
      await insertAudit(tx, {
        at: now,
        accountId,
        actor,
        action: "api_key.rotated",
        targetId: keyId,
        detail: { replacedBy: newKey.id, expiresAt: replacedKey.expiresAt.toISOString() },
      });
      return { key: newKey, secret };
    });
    sendIssuedKey(res, key, secret);
  };
