import type { Request, Response } from "express";
import {
  type CommandSignInResult,
  PollCommandSignInBody,
  apiKeyPrefixLength,
  createApiError,
  generateApiKey,
  hashSecret,
  newId,
} from "@payment-links/contracts";
import { readJsonBody, sendJson } from "@payment-links/http";
import { transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { buildApiKey } from "../domain/api-key.ts";
import { lockAccount } from "../store/accounts.ts";
import {
  deleteCommandSignIn,
  findCommandSignIn,
  redeemCommandSignIn,
} from "../store/command-sign-ins.ts";
import { issueApiKey, requireBelowKeyLimit } from "./issue-api-key.ts";

/**
 * POST /command/sign-ins/poll: returns the result of a sign-in. If a user has allowed it, creates
 * the API key and returns it, once. The key is created here so that it does not have to be stored.
 */
export const pollCommandSignIn =
  (dependencies: Dependencies) =>
  async (req: Request, res: Response): Promise<void> => {
    const { deviceCode } = await readJsonBody(req, PollCommandSignInBody);
    const deviceHash = hashSecret(deviceCode);
    const { clock, pool } = dependencies;
    const signIn = await findCommandSignIn(pool, { deviceHash, now: clock.now() });
    if (signIn === undefined) throw createApiError("NOT_FOUND");
    if (signIn.isDenied) await deleteCommandSignIn(pool, deviceHash);
    const status = signIn.isDenied ? "denied" : "pending";
    const result: CommandSignInResult =
      signIn.accountId === null
        ? { status, key: null, mode: null, scopes: null }
        : await createKey(dependencies, deviceHash, signIn.accountId);
    sendJson(res, 200, result);
  };

const createKey = async (
  { clock, pool }: Dependencies,
  deviceHash: Buffer,
  accountId: string,
): Promise<CommandSignInResult> => {
  return transact(pool, async (tx) => {
    const now = clock.now();
    // The lock order is always account, then sign-in.
    const account = await lockAccount(tx, accountId);
    if (account.isSuspended === true) throw createApiError("ACCOUNT_SUSPENDED");
    await requireBelowKeyLimit(tx, { accountId, now });
    const signIn = await redeemCommandSignIn(tx, { deviceHash, now, accountId });
    if (signIn === undefined) throw createApiError("NOT_FOUND");
    const { actor, mode, scopes } = signIn;
    const secret = generateApiKey(mode);
    const key = buildApiKey({
      id: newId("key"),
      name: signIn.deviceName,
      prefix: secret.slice(0, apiKeyPrefixLength),
      mode,
      scopes,
      cidrs: null,
      requestsPerMinute: null,
      burst: null,
      expiresAt: null,
      now,
    });
    await issueApiKey(tx, { accountId, actor, key, secret });
    return { status: "allowed", key: secret, mode, scopes };
  });
};
