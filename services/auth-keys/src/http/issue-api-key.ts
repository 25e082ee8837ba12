import type { Response } from "express";
import { hashSecret, type Actor } from "@payment-links/contracts";
import { answerJson } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Transaction } from "@payment-links/postgres";
import { type ApiKey, showApiKey } from "../domain/api-key.ts";
import { insertApiKey } from "../store/api-keys.ts";
import { insertAudit } from "../store/audit-log.ts";

type Issue = { caller: Caller; actor: Actor; key: ApiKey; secret: string };

/** Stores a new key of the caller's account, with an audit entry that the caller made it. */
export const issueApiKey = async (
  tx: Transaction,
  { caller, actor, key, secret }: Issue,
): Promise<void> => {
  const accountId = caller.account.id;
  const { id, name, scopes, cidrs, requestsPerMinute, burst, expiresAt, dateCreated } = key;
  await insertApiKey(tx, { accountId, key, hash: hashSecret(secret) });
  await insertAudit(tx, {
    at: dateCreated,
    accountId,
    actor,
    action: "api_key.created",
    targetId: id,
    detail: {
      name,
      scopes,
      cidrs,
      requestsPerMinute,
      burst,
      expiresAt: expiresAt?.toISOString() ?? null,
    },
  });
};

/** Answers 201 with a new key, the key itself included: in this answer and never again. */
export const answerIssuedKey = (res: Response, key: ApiKey, secret: string): void => {
  const { id, name, ...shown } = showApiKey(key);
  answerJson(res, 201, { id, name, key: secret, ...shown });
};
