import type { Response } from "express";
import { hashSecret, type Actor } from "@payment-links/contracts";
import { sendJson } from "@payment-links/http";
import type { Transaction } from "@payment-links/postgres";
import { type ApiKey, serializeApiKey } from "../domain/api-key.ts";
import { insertApiKey } from "../store/api-keys.ts";
import { insertAudit } from "../store/audit-log.ts";

type IssuedApiKey = {
  caller: { account: { id: string } };
  actor: Actor;
  key: ApiKey;
  secret: string;
};

/** Stores a new key of the caller's account, with an audit entry. */
export const issueApiKey = async (
  tx: Transaction,
  { caller, actor, key, secret }: IssuedApiKey,
): Promise<void> => {
  const accountId = caller.account.id;
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
