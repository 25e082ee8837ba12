import type { Request, Response } from "express";
import { body, nullable, text } from "@payment-links/contracts";
import { sendJson, readJsonBody } from "@payment-links/http";
import { transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { lockAccount, publishAccount, updateVerification } from "../store/accounts.ts";
import { insertAudit } from "../store/audit-log.ts";
import { operatorActor } from "./actors.ts";
import { accountSelectorFields, findSelectedAccount } from "./find-selected-account.ts";

const VerificationBody = body({
  ...accountSelectorFields,
  reason: nullable(text({ lengthMax: 500 })),
});

/** POST /internal/accounts/verify: marks an account as verified by an operator (rule CALLER-38). */
export const verifyAccount = (dependencies: Dependencies) => setVerification(dependencies, true);

/** POST /internal/accounts/unverify: removes an account's verification. */
export const unverifyAccount = (dependencies: Dependencies) => setVerification(dependencies, false);

const setVerification =
  (dependencies: Dependencies, isVerified: boolean) => async (req: Request, res: Response) => {
    const { reason, ...accountSelector } = await readJsonBody(req, VerificationBody);
    const { id: accountId, handle } = await findSelectedAccount(dependencies.pool, accountSelector);
    const now = dependencies.clock.now();
    const actor = operatorActor(req);
    const action = isVerified ? "account.verified" : "account.unverified";
    await transact(dependencies.pool, async (tx) => {
      const account = await lockAccount(tx, accountId);
      if (account.isVerified === isVerified) return;
      await updateVerification(tx, { accountId, since: isVerified ? now : null });
      await insertAudit(tx, { at: now, accountId, actor, action, detail: { reason } });
      await publishAccount(tx, accountId, now);
    });
    dependencies.wakeRelay();
    sendJson(res, 200, { userId: accountId, handle, isVerified });
  };
