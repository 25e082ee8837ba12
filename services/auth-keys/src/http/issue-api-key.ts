import type { Response } from "express";
import { type Actor, createApiError, hashSecret } from "@payment-links/contracts";
import { sendJson } from "@payment-links/http";
import type { Transaction } from "@payment-links/postgres";
import { type ApiKey, apiKeysMax, serializeApiKey } from "../domain/api-key.ts";
import { countApiKeys, insertApiKey } from "../store/api-keys.ts";
import { insertAudit } from "../store/audit-log.ts";

/**
 * Throws API_KEY_LIMIT if the account has the maximum number of keys. Requires the account's lock,
 * so that the maximum holds under concurrency.
 */
export const requireBelowKeyLimit = async (
  tx: Transaction,
  { accountId, now }: { accountId: string; now: Date },
): Promise<void> => {
  const { currentCount } = await countApiKeys(tx, { accountId, now });
  if (currentCount >= apiKeysMax) throw createApiError("API_KEY_LIMIT");
};

type IssuedApiKey = {
  accountId: string;
  actor: Actor;
  key: ApiKey;
  secret: string;
};

/** Stores a new key of an account, with an audit entry. */
export const issueApiKey = async (
  tx: Transaction,
  { accountId, actor, key, secret }: IssuedApiKey,
): Promise<void> => {
  const { id, name, mode, scopes, cidrs, requestsPerMinute, burst, expiresAt, dateCreated } = key;
  await insertApiKey(tx, { accountId, key, hash: hashSecret(secret) });
  await insertAudit(tx, {
    at: dateCreated,
    accountId,
    actor,
    action: "api_key.created",
    targetId: id,
    detail: {
      name,
      mode,
      scopes,
      cidrs,
      requestsPerMinute,
      burst,
      expiresAt: expiresAt?.toISOString() ?? null,
    },
  });
};

/** Responds 201 with a new key. Only this response contains the secret. */
export const sendIssuedKey = (res: Response, key: ApiKey, secret: string): void => {
  const { id, name, ...keyFields } = serializeApiKey(key);
  sendJson(res, 201, { id, name, key: secret, ...keyFields });
};
