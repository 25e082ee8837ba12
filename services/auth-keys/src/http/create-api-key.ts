import type { Request, Response } from "express";
import {
  createApiKeyBody,
  generateApiKey,
  newId,
  createApiError,
  apiKeyPrefixLength,
  isTestModeAvailable,
} from "@payment-links/contracts";
import { createSessionActor, readJsonBody } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { apiKeysMax, buildApiKey, requireWithinInstallationLimit } from "../domain/api-key.ts";
import { countApiKeys } from "../store/api-keys.ts";
import { lockCallerAccount } from "../store/sessions.ts";
import { sendIssuedKey, issueApiKey } from "./issue-api-key.ts";

/** POST /console/api/api-keys: creates a key. Only this response contains the key's secret. */
export const createApiKey = (dependencies: Dependencies) => {
  const ApiKeyBody = createApiKeyBody(() => dependencies.clock.now());
  return async (req: Request, res: Response, caller: Caller) => {
    const keyOptions = await readJsonBody(req, ApiKeyBody);
    requireWithinInstallationLimit(keyOptions, dependencies.limits.perKey);
    const mode = keyOptions.mode ?? "live";
    if (mode === "test" && !isTestModeAvailable(dependencies.catalogue))
      throw createApiError("TEST_MODE_UNAVAILABLE");
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
      const { currentCount } = await countApiKeys(tx, { accountId, now });
      if (currentCount >= apiKeysMax) throw createApiError("API_KEY_LIMIT");
      await issueApiKey(tx, {
        caller,
        actor: createSessionActor(req, caller.credential),
        key,
        secret,
      });
    });
    sendIssuedKey(res, key, secret);
  };
};
