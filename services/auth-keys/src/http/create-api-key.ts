import type { Request, Response } from "express";
import {
  body,
  futureDateTime,
  hashSecret,
  list,
  mintApiKey,
  newId,
  nullable,
  oneOf,
  refuse,
  required,
  scopes,
  shownKeyLength,
  text,
} from "@payment-links/contracts";
import { readBody } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Deps } from "../deps.ts";
import { apiKeysMax, showApiKey } from "../domain/api-key.ts";
import { lockAccount } from "../store/accounts.ts";
import { countApiKeys, insertApiKey } from "../store/api-keys.ts";
import { insertAudit } from "../store/audit-log.ts";
import { answerJson } from "./answer-json.ts";

/** POST /console/api/api-keys: a new key, shown in this answer and never again. */
export const createApiKey = (deps: Deps) => {
  const ApiKeyBody = apiKeyBody(() => deps.clock.now());
  return async (req: Request, res: Response, caller: Caller) => {
    const wanted = await readBody(req, ApiKeyBody);
    const secret = mintApiKey(deps.apiKeyMode);
    const now = deps.clock.now();
    const accountId = caller.account.id;
    const key = {
      ...wanted,
      id: newId("key"),
      prefix: secret.slice(0, shownKeyLength),
      scopes: [...new Set(wanted.scopes)],
      isActive: true,
      dateCreated: now,
      lastUsedAt: null,
    };
    await deps.pool.transaction(async (tx) => {
      // Behind the account's lock, so that two calls at once cannot both be the last that fits.
      await lockAccount(tx, accountId);
      if ((await countApiKeys(tx, accountId)) >= apiKeysMax) throw refuse("API_KEY_LIMIT");
      await insertApiKey(tx, { accountId, key, hash: hashSecret(secret) });
      await insertAudit(tx, {
        at: now,
        accountId,
        actor: { kind: "session", id: caller.credential.id },
        action: "api_key.created",
        targetId: key.id,
        detail: { name: key.name, scopes: key.scopes },
      });
    });
    const { id, name, ...shown } = showApiKey(key);
    answerJson(res, 201, { id, name, key: secret, ...shown });
  };
};

const scopesMax = 20;

const apiKeyBody = (now: () => Date) =>
  body({
    name: required(text({ lengthMin: 1, lengthMax: 100 }), {
      type: "string",
      minLength: 1,
      maxLength: 100,
    }),
    scopes: required(list(oneOf(scopes), { itemsMin: 1, itemsMax: scopesMax }), {
      type: "array",
      items: { enum: [...scopes] },
    }),
    expiresAt: nullable(futureDateTime(now), { type: "string", format: "date-time" }),
  });
