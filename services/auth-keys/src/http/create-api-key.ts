import type { Request, Response } from "express";
import { apiKeyBody, mintApiKey, newId, refuse, shownKeyLength } from "@payment-links/contracts";
import { personActor, readBody } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import { apiKeysMax, openApiKey, requireWithin } from "../domain/api-key.ts";
import { countApiKeys } from "../store/api-keys.ts";
import { lockCallersAccount } from "../store/sessions.ts";
import { answerIssuedKey, issueApiKey } from "./issue-api-key.ts";

/** POST /console/api/api-keys: a new key, shown in this answer and never again. */
export const createApiKey = (deps: Deps) => {
  const ApiKeyBody = apiKeyBody(() => deps.clock.now());
  return async (req: Request, res: Response, caller: Caller) => {
    const wanted = await readBody(req, ApiKeyBody);
    requireWithin(wanted, deps.limits.perKey);
    const secret = mintApiKey(deps.apiKeyMode);
    const now = deps.clock.now();
    const accountId = caller.account.id;
    const key = openApiKey({
      ...wanted,
      id: newId("key"),
      prefix: secret.slice(0, shownKeyLength),
      scopes: [...new Set(wanted.scopes)],
      now,
    });
    await transact(deps.pool, async (tx) => {
      // Behind the account's lock, so that two calls at once cannot both take the last free place.
      await lockCallersAccount(tx, caller);
      const { currentCount } = await countApiKeys(tx, { accountId, now });
      if (currentCount >= apiKeysMax) throw refuse("API_KEY_LIMIT");
      await issueApiKey(tx, { caller, actor: personActor(req, caller.credential), key, secret });
    });
    answerIssuedKey(res, key, secret);
  };
};
