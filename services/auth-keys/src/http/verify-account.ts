import type { Request, Response } from "express";
import { body, nullable, text } from "@payment-links/contracts";
import { answerJson, readBody } from "@payment-links/http";
import { transact } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import { lockAccount, publishAccount, updateVerification } from "../store/accounts.ts";
import { insertAudit } from "../store/audit-log.ts";
import { operatorActor } from "./actors.ts";
import { accountName, findNamedAccount } from "./find-named-account.ts";

const VerificationBody = body({ ...accountName, reason: nullable(text({ lengthMax: 500 })) });

/** POST /internal/accounts/verify: an operator vouches for an account (rule CALLER-38). */
export const verifyAccount = (deps: Deps) => setVerification(deps, true);

/** POST /internal/accounts/unverify: an operator no longer vouches for an account. */
export const unverifyAccount = (deps: Deps) => setVerification(deps, false);

const setVerification =
  (deps: Deps, isVerified: boolean) => async (req: Request, res: Response) => {
    const { reason, ...name } = await readBody(req, VerificationBody);
    const { id: accountId, handle } = await findNamedAccount(deps.pool, name);
    const now = deps.clock.now();
    const actor = operatorActor(req);
    const action = isVerified ? "account.verified" : "account.unverified";
    await transact(deps.pool, async (tx) => {
      const account = await lockAccount(tx, accountId);
      if (account.isVerified === isVerified) return;
      await updateVerification(tx, { accountId, since: isVerified ? now : null });
      await insertAudit(tx, { at: now, accountId, actor, action, detail: { reason } });
      await publishAccount(tx, accountId, now);
    });
    deps.wakeRelay();
    answerJson(res, 200, { userId: accountId, handle, isVerified });
  };
