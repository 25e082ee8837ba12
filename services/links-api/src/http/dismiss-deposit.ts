import type { Request, Response } from "express";
import { publishAuditEvent } from "@payment-links/bus";
import { isId, createApiError } from "@payment-links/contracts";
import { sendJson, createSessionActor, parsePathParameter } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import type { Deposit } from "../domain/deposit.ts";
import { updateDepositDecision, lockOwnDeposit } from "../store/deposits.ts";
import { serializeDeposit } from "./serialize-deposit.ts";

/**
 * POST /console/api/deposits/:id/dismiss: removes a deposit from the list of undecided deposits
 * without assigning it to a link.
 */
export const dismissOwnDeposit =
  (dependencies: Dependencies) =>
  async (req: Request, res: Response, { account, credential }: Caller): Promise<void> => {
    const depositId = parsePathParameter(req, "id");
    if (!isId("dep", depositId)) throw createApiError("NOT_FOUND");
    const now = dependencies.clock.now();
    const userId = account.id;
    const dismissed = await transact(dependencies.pool, async (tx) => {
      const storedDeposit = await lockOwnDeposit(tx, { depositId, userId });
      if (storedDeposit === undefined) throw createApiError("NOT_FOUND");
      if (storedDeposit.decision === "assigned") throw createApiError("DEPOSIT_ALREADY_ASSIGNED");
      if (storedDeposit.decision === "dismissed") return storedDeposit;
      const deposit: Deposit = { ...storedDeposit, decision: "dismissed", decidedAt: now };
      await updateDepositDecision(tx, deposit);
      await publishAuditEvent(tx, {
        ...createSessionActor(req, credential),
        at: now,
        accountId: userId,
        action: "deposit.dismissed",
        targetId: depositId,
      });
      return deposit;
    });
    dependencies.wakeRelay();
    sendJson(res, 200, serializeDeposit(dependencies, dismissed));
  };
