import type { Request, Response } from "express";
import { body, hashSecret } from "@payment-links/contracts";
import { answerJson, readBody } from "@payment-links/http";
import { transact } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import { signInLinkLifeMs, signInUrl } from "../domain/sign-in-link.ts";
import { mintToken } from "../domain/token.ts";
import { insertAudit } from "../store/audit-log.ts";
import { insertSignInToken } from "../store/sign-in-tokens.ts";
import { operatorActor } from "./actors.ts";
import { accountName, findNamedAccount } from "./find-named-account.ts";
import { requireMethod } from "./list-sign-in-methods.ts";

const SignInLinkBody = body(accountName);

/** POST /internal/sign-in-links: an operator lets a person in again. */
export const makeSignInLink = (deps: Deps) => async (req: Request, res: Response) => {
  requireMethod(deps, "link");
  const account = await findNamedAccount(deps.pool, await readBody(req, SignInLinkBody));
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
      actor: operatorActor(req),
      action: "sign_in_link.made",
    });
  });
  answerJson(res, 201, { signInUrl: signInUrl(deps.baseUrl, token) });
};
