import type { Request, Response } from "express";
import { body, hashSecret } from "@payment-links/contracts";
import { sendJson, readJsonBody } from "@payment-links/http";
import { transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { signInLinkLifetimeMs, getSignInUrl } from "../domain/sign-in-link.ts";
import { generateToken } from "../domain/token.ts";
import { insertAudit } from "../store/audit-log.ts";
import { insertSignInToken } from "../store/sign-in-tokens.ts";
import { operatorActor } from "./actors.ts";
import { accountSelectorFields, findSelectedAccount } from "./find-selected-account.ts";
import { requireEnabledMethod } from "./list-sign-in-methods.ts";

const SignInLinkBody = body(accountSelectorFields);

/** POST /internal/sign-in-links: creates a sign-in link for an operator to give to the account's user. */
export const createSignInLink =
  (dependencies: Dependencies) => async (req: Request, res: Response) => {
    requireEnabledMethod(dependencies, "link");
    const account = await findSelectedAccount(
      dependencies.pool,
      await readJsonBody(req, SignInLinkBody),
    );
    const token = generateToken();
    const now = dependencies.clock.now();
    await transact(dependencies.pool, async (tx) => {
      await insertSignInToken(tx, {
        hash: hashSecret(token),
        accountId: account.id,
        expiresAt: new Date(now.getTime() + signInLinkLifetimeMs),
      });
      await insertAudit(tx, {
        at: now,
        accountId: account.id,
        actor: operatorActor(req),
        action: "sign_in_link.made",
      });
    });
    sendJson(res, 201, { signInUrl: getSignInUrl(dependencies.baseUrl, token) });
  };
