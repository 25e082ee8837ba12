import type { Request, Response } from "express";
import { publishAudit } from "@payment-links/bus";
import { AssignDepositBody, isId, refuse } from "@payment-links/contracts";
import { answerJson, personActor, readBody, readParam } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import { type Deposit, assignDeposit, depositSource } from "../domain/deposit.ts";
import { createReports } from "../domain/reports.ts";
import { creditEvents } from "../store/credit-events.ts";
import { decideDeposit, lockOwnDeposit } from "../store/deposits.ts";
import { keepCredits } from "../store/keep-credits.ts";
import { lockLinks } from "../store/links.ts";
import { lockReports } from "../store/reports.ts";
import { showDecided } from "./show-deposit.ts";
import { showPayment } from "./show-payment.ts";

/**
 * POST /console/api/deposits/:id/assign: the owner says for which active link a deposit was. It becomes
 * a payment of that link, credited with its events in the transaction that says so (rule CALLER-29).
 * Deposit first, then link: whoever takes both takes them in this order.
 */
export const assignOwnDeposit =
  (deps: Deps) =>
  async (req: Request, res: Response, { account, credential }: Caller): Promise<void> => {
    const depositId = readParam(req, "id");
    const { paymentLinkId } = await readBody(req, AssignDepositBody);
    if (!isId("dep", depositId)) throw refuse("NOT_FOUND");
    const now = deps.clock.now();
    const userId = account.id;
    const { before, deposit, taken } = await transact(deps.pool, async (tx) => {
      const found = await lockOwnDeposit(tx, { depositId, userId });
      if (found === undefined) throw refuse("NOT_FOUND");
      const link = (await lockLinks(tx, [paymentLinkId])).get(paymentLinkId);
      if (link === undefined || link.userId !== userId) throw refuse("NOT_FOUND");
      const tokenOf = (tokenId: string) => deps.tokenOf(tokenId).token;
      const reported = await lockReports(tx, [{ ...found, source: depositSource }]);
      const reports = createReports(reported).list(userId, found);
      const { judgedAgain, taken } = assignDeposit(found, { link, reports, tokenOf, now });
      await keepCredits(tx, {
        payments: [taken, ...judgedAgain].map(({ payment }) => payment),
        links: [taken.credited.link],
        events: creditEvents(taken, { now, traceparent: undefined }),
      });
      const deposit: Deposit = {
        ...found,
        decision: "assigned",
        decidedAt: now,
        linkId: link.id,
        paymentId: taken.payment.id,
      };
      await decideDeposit(tx, deposit);
      await publishAudit(tx, {
        ...personActor(req, credential),
        at: now,
        accountId: userId,
        action: "deposit.assigned",
        targetId: depositId,
        detail: { paymentLinkId, paymentId: taken.payment.id },
      });
      return { before: link, deposit, taken };
    });
    deps.counters.judged(undefined);
    if (taken.credited.isCompleted) deps.counters.changed(before.status, "completed");
    deps.wakeRelay();
    answerJson(res, 200, {
      deposit: showDecided(deps, deposit),
      payment: showPayment(taken.payment),
    });
  };
