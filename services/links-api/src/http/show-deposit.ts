import { type DepositData, explorerUrl, formatAmount, showToken } from "@payment-links/contracts";
import type { Deps } from "../deps.ts";
import {
  type Deposit,
  type LikelyLink,
  depositSource,
  latestArrival,
  rankLinks,
} from "../domain/deposit.ts";
import type { Payment } from "../domain/payment.ts";
import { createReports } from "../domain/reports.ts";
import { findSameTransfer } from "../domain/same-transfer.ts";
import { listLikelyLinks } from "../store/deposits.ts";
import { listReports } from "../store/reports.ts";

/** Deposits as their owner sees them, each undecided one with the links that it was likeliest for. */
export const showDeposits = async (
  deps: Deps,
  deposits: readonly Deposit[],
  userId: string,
): Promise<(deposit: Deposit) => DepositData> => {
  const open = deposits.filter(({ decision }) => decision === "unmatched");
  const now = deps.clock.now();
  const [found, reported] =
    open.length === 0
      ? [[], []]
      : await Promise.all([
          listLikelyLinks(deps.pool, { deposits: open, now, userId }),
          listReports(deps.pool, open),
        ]);
  const reports = createReports(reported);
  return (deposit) => {
    const counted = findCounted(deps, deposit, reports.list(userId, deposit));
    if (counted !== undefined) {
      const { id: paymentId, linkId: paymentLinkId } = counted;
      return { ...showDecided(deps, deposit), countedAs: { paymentId, paymentLinkId } };
    }
    const links = found.filter(({ depositId }) => depositId === deposit.id);
    return {
      ...showDecided(deps, deposit),
      likelyLinks: rankLinks({ ...deposit, occurredAt: latestArrival(deposit) }, links).map(
        showLikely,
      ),
    };
  };
};

/** Finds the payment as which an undecided deposit counts already, because a notice reported it (rule STATE-14). */
const findCounted = (
  { catalogue }: Deps,
  deposit: Deposit,
  reports: readonly Payment[],
): Payment | undefined => {
  const token = catalogue.findTokenByAddress(deposit.chainId, deposit.tokenAddress);
  if (deposit.decision === "assigned" || token === undefined) return undefined;
  const report = { ...deposit, source: depositSource, linkId: "" };
  const same = findSameTransfer(report, reports, token.chain.chainType);
  return same?.original.isApplied === true ? same.original : undefined;
};

/** A deposit without any links. */
export const showDecided = ({ catalogue, checkoutUrl }: Deps, deposit: Deposit): DepositData => {
  const { chainId, sourceTransaction, tokenAddress } = deposit;
  const token = catalogue.findTokenByAddress(chainId, tokenAddress);
  return {
    id: deposit.id,
    status: deposit.status,
    decision: deposit.decision,
    amount: formatAmount(deposit.amount),
    token: token === undefined ? null : showToken(token, checkoutUrl),
    lookalikeOf: catalogue.findToken(token?.lookalikeOf ?? "")?.symbol ?? null,
    tokenAddress,
    chainId,
    destinationAddress: deposit.destinationAddress,
    sender: deposit.payer,
    sourceTransaction,
    transactionUrl:
      token === undefined ? null : (explorerUrl(token.chain, sourceTransaction) ?? null),
    dateOnChain: deposit.occurredAt.toISOString(),
    dateCreated: deposit.firstSeenAt.toISOString(),
    dateDecided: deposit.decidedAt?.toISOString() ?? null,
    paymentLinkId: deposit.linkId,
    paymentId: deposit.paymentId,
    likelyLinks: [],
  };
};

const showLikely = (link: ReturnType<typeof rankLinks>[number]) => ({
  id: link.id,
  toAmount: formatAmount(link.toAmount),
  remainingAmount: formatAmount(remainingOf(link)),
  description: link.description,
  dateCreated: link.createdAt.toISOString(),
  reasons: [...link.reasons],
});

const remainingOf = ({ receivedAmount, toAmount }: LikelyLink) => toAmount.minus(receivedAmount);
