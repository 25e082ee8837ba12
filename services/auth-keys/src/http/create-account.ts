import type { Request, Response } from "express";
import { body, hashSecret, newId, nullable, required, text } from "@payment-links/contracts";
import { sendJson, readJsonBody } from "@payment-links/http";
import { transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { buildAccount } from "../domain/account.ts";
import { parseHandle } from "../domain/handle.ts";
import { signInLinkLifetimeMs, getSignInUrl } from "../domain/sign-in-link.ts";
import { generateToken } from "../domain/token.ts";
import { insertAccount, publishNewAccount } from "../store/accounts.ts";
import { insertAudit } from "../store/audit-log.ts";
import { claimHandle } from "../store/handles.ts";
import { insertSignInToken } from "../store/sign-in-tokens.ts";
import { operatorActor } from "./actors.ts";

const NewAccountBody = body({
  handle: nullable(text({ lengthMax: 100 })),
  username: required(text({ lengthMin: 1, lengthMax: 100 })),
});

/**
 * POST /internal/accounts: creates an account for an operator, with its first sign-in link if links
 * are enabled.
 */
export const createAccount =
  (dependencies: Dependencies) => async (req: Request, res: Response) => {
    const { handle: handleInput, username } = await readJsonBody(req, NewAccountBody);
    const handle = handleInput === null ? null : parseHandle(handleInput);
    const now = dependencies.clock.now();
    const token = dependencies.signInMethods.includes("link") ? generateToken() : undefined;
    const account = buildAccount({ id: newId("user"), handle, username, isVerified: true, now });
    const accountId = account.id;
    await transact(dependencies.pool, async (tx) => {
      await insertAccount(tx, account);
      if (handle !== null) await claimHandle(tx, { accountId, handle, now });
      const actor = operatorActor(req);
      const detail = { handle, username };
      await insertAudit(tx, { at: now, accountId, actor, action: "account.created", detail });
      if (token !== undefined) {
        const expiresAt = new Date(now.getTime() + signInLinkLifetimeMs);
        await insertSignInToken(tx, { hash: hashSecret(token), accountId, expiresAt });
        await insertAudit(tx, { at: now, accountId, actor, action: "sign_in_link.made" });
      }
      await publishNewAccount(tx, account);
    });
    dependencies.wakeRelay();
    const signInLink = token === undefined ? null : getSignInUrl(dependencies.baseUrl, token);
    sendJson(res, 201, { userId: accountId, handle, signInUrl: signInLink });
  };
