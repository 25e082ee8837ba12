import type { Request, Response } from "express";
import {
  createApiKeyBody,
  generateApiKey,
  newId,
  apiKeyPrefixLength,
  requireModeAvailable,
} from "@payment-links/contracts";
import { createSessionActor, readJsonBody } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { buildApiKey, requireWithinInstallationLimit } from "../domain/api-key.ts";
import { lockCallerAccount } from "../store/sessions.ts";
import { issueApiKey, requireBelowKeyLimit, sendIssuedKey } from "./issue-api-key.ts";

/** POST /console/api/api-keys: creates a key. Only this response contains the key's secret. */
export const createApiKey = (dependencies: Dependencies) => {
  const ApiKeyBody = createApiKeyBody(() => dependencies.clock.now());
  return async (req: Request, res: Response, caller: Caller) => {
    const keyOptions = await readJsonBody(req, ApiKeyBody);
    requireWithinInstallationLimit(keyOptions, dependencies.limits.perKey);
    const mode = keyOptions.mode ?? "live";
    requireModeAvailable(dependencies.catalogue, mode);
    const secret = generateApiKey(mode);
    const now = dependencies.clock.now();
    const accountId = caller.account.id;
    const key = buildApiKey({
      ...keyOptions,
      id: newId("key"),
      prefix: secret.slice(0, apiKeyPrefixLength),
      mode,
      scopes: [...new Set(keyOptions.scopes)],
      now,
    });
    await transact(dependencies.pool, async (tx) => {
      // Counts the keys under the account's lock, so that concurrent calls cannot exceed the limit.
      await lockCallerAccount(tx, caller);
      await requireBelowKeyLimit(tx, { accountId, now });
      await issueApiKey(tx, {
        accountId,
        actor: createSessionActor(req, caller.credential),
        key,
        secret,
      });
    });
    sendIssuedKey(res, key, secret);
  };
};
