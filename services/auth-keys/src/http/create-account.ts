import type { Request, Response } from "express";
import { body, hashSecret, newId, nullable, required, text } from "@payment-links/contracts";
import { answerJson, readBody } from "@payment-links/http";
import { transact } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import { openAccount } from "../domain/account.ts";
import { readHandle } from "../domain/handle.ts";
import { signInLinkLifeMs, signInUrl } from "../domain/sign-in-link.ts";
import { mintToken } from "../domain/token.ts";
import { insertAccount, publishNewAccount } from "../store/accounts.ts";
import { insertAudit } from "../store/audit-log.ts";
import { claimHandle } from "../store/handles.ts";
import { insertSignInToken } from "../store/sign-in-tokens.ts";
import { operatorActor } from "./actors.ts";

const NewAccountBody = body({
  handle: nullable(text({ lengthMax: 100 })),
  username: required(text({ lengthMin: 1, lengthMax: 100 })),
});

/** POST /internal/accounts: an operator opens an account, and gets its first sign-in link, if links sign in. */
export const createAccount = (deps: Deps) => async (req: Request, res: Response) => {
  const { handle: typed, username } = await readBody(req, NewAccountBody);
  const handle = typed === null ? null : readHandle(typed);
  const now = deps.clock.now();
  const token = deps.signInMethods.includes("link") ? mintToken() : undefined;
  const account = openAccount({ id: newId("user"), handle, username, isVerified: true, now });
  const accountId = account.id;
  await transact(deps.pool, async (tx) => {
    await insertAccount(tx, account);
    if (handle !== null) await claimHandle(tx, { accountId, handle, now });
    const actor = operatorActor(req);
    const detail = { handle, username };
    await insertAudit(tx, { at: now, accountId, actor, action: "account.created", detail });
    if (token !== undefined) {
      const expiresAt = new Date(now.getTime() + signInLinkLifeMs);
      await insertSignInToken(tx, { hash: hashSecret(token), accountId, expiresAt });
      await insertAudit(tx, { at: now, accountId, actor, action: "sign_in_link.made" });
    }
    await publishNewAccount(tx, account);
  });
  deps.wakeRelay();
  const link = token === undefined ? null : signInUrl(deps.baseUrl, token);
  answerJson(res, 201, { userId: accountId, handle, signInUrl: link });
};
