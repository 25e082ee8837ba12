import { buildExplorerUrl } from "@payment-links/chains";
import {
  type DepositData,
  type Mode,
  formatAmount,
  serializeToken,
} from "@payment-links/contracts";
import type { Dependencies } from "../dependencies.ts";
import {
  type Deposit,
  type LikelyLink,
  depositSource,
  getLatestArrival,
  rankLinks,
} from "../domain/deposit.ts";
import type { Payment } from "../domain/payment.ts";
import { createPaymentReports, findSameTransfer } from "../domain/same-transfer.ts";
import { listLikelyLinks } from "../store/deposits.ts";
import { listReports } from "../store/payment-reports.ts";

/**
 * Creates a function that serializes deposits of a mode for their owner. Undecided deposits include
 * the links that they are likely meant for.
 */
export const createDepositSerializer = async (
  dependencies: Dependencies,
  deposits: readonly Deposit[],
  { mode, userId }: { mode: Mode; userId: string },
): Promise<(deposit: Deposit) => DepositData> => {
  const unmatchedDeposits = deposits.filter(({ decision }) => decision === "unmatched");
  const now = dependencies.clock.now();
  const [likelyLinks, storedReports] =
    unmatchedDeposits.length === 0
      ? [[], []]
      : await Promise.all([
          listLikelyLinks(dependencies.pool, { deposits: unmatchedDeposits, mode, now, userId }),
          listReports(dependencies.pool, unmatchedDeposits),
        ]);
  const reports = createPaymentReports(storedReports);
  return (deposit) => {
    const creditedPayment = findCreditedPayment(
      dependencies,
      deposit,
      reports.list(userId, deposit),
    );
    if (creditedPayment !== undefined) {
      const { id: paymentId, linkId: paymentLinkId } = creditedPayment;
      return {
        ...serializeDeposit(dependencies, deposit),
        countedAs: { paymentId, paymentLinkId },
      };
    }
    const depositLinks = likelyLinks.filter(({ depositId }) => depositId === deposit.id);
    return {
      ...serializeDeposit(dependencies, deposit),
      likelyLinks: rankLinks(
        { ...deposit, occurredAt: getLatestArrival(deposit) },
        depositLinks,
      ).map(serializeLikelyLink),
    };
  };
};

/**
 * Finds the payment to which an undecided deposit is already credited, because a provider's notice
 * reported the same transfer (rule STATE-14).
 */
const findCreditedPayment = (
  { catalogue }: Dependencies,
  deposit: Deposit,
  reports: readonly Payment[],
): Payment | undefined => {
  const token = catalogue.findTokenByAddress(deposit.chainId, deposit.tokenAddress);
  if (deposit.decision === "assigned" || token === undefined) return undefined;
  const report = { ...deposit, source: depositSource, linkId: "" };
  const sameTransfer = findSameTransfer(report, reports, token.chain.chainType);
  return sameTransfer?.original.isApplied === true ? sameTransfer.original : undefined;
};

/** Serializes a deposit without its likely links. */
export const serializeDeposit = (
  { catalogue, checkoutUrl }: Dependencies,
  deposit: Deposit,
): DepositData => {
  const { chainId, sourceTransaction, tokenAddress } = deposit;
  const token = catalogue.findTokenByAddress(chainId, tokenAddress);
  return {
    id: deposit.id,
    mode: deposit.mode,
    status: deposit.status,
    decision: deposit.decision,
    amount: formatAmount(deposit.amount),
    token: token === undefined ? null : serializeToken(token, checkoutUrl),
    lookalikeOf: catalogue.findToken(token?.lookalikeOf ?? "")?.symbol ?? null,
    tokenAddress,
    chainId,
    destinationAddress: deposit.destinationAddress,
    sender: deposit.payer,
    sourceTransaction,
    transactionUrl:
      token === undefined ? null : (buildExplorerUrl(token.chain, sourceTransaction) ?? null),
    dateOnChain: deposit.occurredAt.toISOString(),
    dateCreated: deposit.firstSeenAt.toISOString(),
    dateDecided: deposit.decidedAt?.toISOString() ?? null,
    paymentLinkId: deposit.linkId,
    paymentId: deposit.paymentId,
    likelyLinks: [],
  };
};

const serializeLikelyLink = (link: ReturnType<typeof rankLinks>[number]) => ({
  id: link.id,
  toAmount: formatAmount(link.toAmount),
  remainingAmount: formatAmount(getRemainingAmount(link)),
  description: link.description,
  dateCreated: link.createdAt.toISOString(),
  reasons: [...link.reasons],
});

const getRemainingAmount = ({ receivedAmount, toAmount }: LikelyLink) =>
  toAmount.minus(receivedAmount);
