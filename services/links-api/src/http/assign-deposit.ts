import type { Request, Response } from "express";
import { publishAuditEvent } from "@payment-links/bus";
import { AssignDepositBody, isId, createApiError } from "@payment-links/contracts";
import {
  sendJson,
  createSessionActor,
  readJsonBody,
  parsePathParameter,
} from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { type Deposit, assignDeposit, depositSource } from "../domain/deposit.ts";
import { createPaymentReports } from "../domain/same-transfer.ts";
import { updateDepositDecision, lockOwnDeposit } from "../store/deposits.ts";
import { saveCredits } from "../store/save-credits.ts";
import { lockLinks } from "../store/links.ts";
import { lockReports } from "../store/payment-reports.ts";
import { serializeDeposit } from "./serialize-deposit.ts";
import { serializePayment } from "./serialize-payment.ts";

/**
 * POST /console/api/deposits/:id/assign: assigns an own deposit to an active link. The deposit
 * becomes a payment of that link, which is credited and published in the same transaction (rule
 * CALLER-29). The deposit is locked before the link.
 */
export const assignOwnDeposit =
  (dependencies: Dependencies) =>
  async (req: Request, res: Response, { account, credential }: Caller): Promise<void> => {
    const depositId = parsePathParameter(req, "id");
    const { paymentLinkId } = await readJsonBody(req, AssignDepositBody);
    if (!isId("dep", depositId)) throw createApiError("NOT_FOUND");
    const now = dependencies.clock.now();
    const userId = account.id;
    const { linkBefore, deposit, result } = await transact(dependencies.pool, async (tx) => {
      const storedDeposit = await lockOwnDeposit(tx, { depositId, userId });
      if (storedDeposit === undefined) throw createApiError("NOT_FOUND");
      const link = (await lockLinks(tx, [paymentLinkId])).get(paymentLinkId);
      const isOwnLink = link?.userId === userId && link.mode === storedDeposit.mode;
      if (link === undefined || !isOwnLink) throw createApiError("NOT_FOUND");
      const getToken = (tokenId: string) => dependencies.getToken(tokenId).token;
      const storedReports = await lockReports(tx, [{ ...storedDeposit, source: depositSource }]);
      const reports = createPaymentReports(storedReports).list(userId, storedDeposit);
      const { reevaluated, result } = assignDeposit(storedDeposit, {
        link,
        reports,
        getToken,
        now,
      });
      await saveCredits(tx, [result, ...reevaluated], now);
      const deposit: Deposit = {
        ...storedDeposit,
        decision: "assigned",
        decidedAt: now,
        linkId: link.id,
        paymentId: result.payment.id,
      };
      await updateDepositDecision(tx, deposit);
      await publishAuditEvent(tx, {
        ...createSessionActor(req, credential),
        at: now,
        accountId: userId,
        action: "deposit.assigned",
        targetId: depositId,
        detail: { paymentLinkId, paymentId: result.payment.id },
      });
      return { linkBefore: link, deposit, result };
    });
    dependencies.counters.countEvaluatedPayment(undefined);
    if (result.credit.isCompleted)
      dependencies.counters.countStatusChange(linkBefore.status, "completed");
    dependencies.wakeRelay();
    sendJson(res, 200, {
      deposit: serializeDeposit(dependencies, deposit),
      payment: serializePayment(dependencies, result.payment),
    });
  };
