import type { Request, Response } from "express";
import { publishAudit } from "@payment-links/bus";
import { isId, refuse } from "@payment-links/contracts";
import { answerJson, personActor, readParam } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import type { Deposit } from "../domain/deposit.ts";
import { decideDeposit, lockOwnDeposit } from "../store/deposits.ts";
import { showDecided } from "./show-deposit.ts";

/** POST /console/api/deposits/:id/dismiss: a deposit that was for no link leaves the list. */
export const dismissOwnDeposit =
  (deps: Deps) =>
  async (req: Request, res: Response, { account, credential }: Caller): Promise<void> => {
    const depositId = readParam(req, "id");
    if (!isId("dep", depositId)) throw refuse("NOT_FOUND");
    const now = deps.clock.now();
    const userId = account.id;
    const dismissed = await transact(deps.pool, async (tx) => {
      const found = await lockOwnDeposit(tx, { depositId, userId });
      if (found === undefined) throw refuse("NOT_FOUND");
      if (found.decision === "assigned") throw refuse("DEPOSIT_ALREADY_ASSIGNED");
      if (found.decision === "dismissed") return found;
      const deposit: Deposit = { ...found, decision: "dismissed", decidedAt: now };
      await decideDeposit(tx, deposit);
      await publishAudit(tx, {
        ...personActor(req, credential),
        at: now,
        accountId: userId,
        action: "deposit.dismissed",
        targetId: depositId,
      });
      return deposit;
    });
    deps.wakeRelay();
    answerJson(res, 200, showDecided(deps, dismissed));
  };
