import type { Request, Response } from "express";
import { body, hashSecret, invalid, nullable, refuse, text } from "@payment-links/contracts";
import { answerJson, readBody } from "@payment-links/http";
import { transact } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import { readHandle } from "../domain/handle.ts";
import { signInLinkLifeMs, signInUrl } from "../domain/sign-in-link.ts";
import { mintToken } from "../domain/token.ts";
import { findAccount, findAccountByHandle } from "../store/accounts.ts";
import { insertAudit } from "../store/audit-log.ts";
import { insertSignInToken } from "../store/sign-in-tokens.ts";
import { requireMethod } from "./list-sign-in-methods.ts";

const whom = text({ lengthMax: 100 });
const SignInLinkBody = body({
  handle: nullable(whom),
  userId: nullable(whom),
});

/**
 * POST /internal/sign-in-links: an operator lets a person in again. A handle (present or former)
 * names the account, or its id, because an account may have no handle.
 */
export const makeSignInLink = (deps: Deps) => async (req: Request, res: Response) => {
  requireMethod(deps, "link");
  const { handle, userId } = await readBody(req, SignInLinkBody);
  if (handle === null && userId === null) throw invalid("missing");
  const account =
    handle === null
      ? await findAccount(deps.pool, userId ?? "")
      : await findAccountByHandle(deps.pool, readHandle(handle));
  if (account === undefined) throw refuse("NOT_FOUND");
  const token = mintToken();
  const now = deps.clock.now();
  await transact(deps.pool, async (tx) => {
    await insertSignInToken(tx, {
      hash: hashSecret(token),
      accountId: account.id,
      expiresAt: new Date(now.getTime() + signInLinkLifeMs),
    });
    await insertAudit(tx, {
      at: now,
      accountId: account.id,
      actor: { kind: "operator" },
      action: "sign_in_link.made",
    });
  });
  answerJson(res, 201, { signInUrl: signInUrl(deps.baseUrl, token) });
};
