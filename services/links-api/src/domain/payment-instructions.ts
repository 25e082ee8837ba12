import type { ContractCalls, Instructions } from "@payment-links/chains";
import { buildInstructions } from "@payment-links/chains/build-instructions";
import {
  type CatalogueToken,
  Decimal,
  fitsDecimals,
  formatAmount,
  createValidationError,
  getSmallestDeposit,
  type noInstructionsReasons,
  createApiError,
} from "@payment-links/contracts";
import type { LinkView, OwnerView } from "./link-view.ts";
import { statusAt } from "./link.ts";
import {
  type TokenUnits,
  canSendAmount,
  getSmallestPayment,
  toBaseUnits,
} from "./payable-amount.ts";

type PaymentAmount = { amount: Decimal; amountBaseUnits: bigint };

/** The amount and the calls that a payer sends through a fee proxy. */
export type CallInstructions = PaymentAmount & ContractCalls;

/** Everything that a payer needs to pay a link, in a form that depends on the chain family. */
export type PaymentInstructions = PaymentAmount & Instructions;

/** Why there are no payment instructions. */
export type NoInstructionsReason = (typeof noInstructionsReasons)[number];

/** The payment instructions for a link, or why there are none. */
export type InstructionsResult =
  | { instructions: PaymentInstructions }
  | { reason: NoInstructionsReason };

/** The options that a payer can choose, and the time of the request. */
export type InstructionsOptions = {
  /** The amount that the payer wants to pay; defaults to the remaining amount. */
  amount?: Decimal | undefined;
  now: Date;
  /**
   * Whether to build instructions for an ended link too. Only development uses this, to test
   * overpaid and late payments.
   */
  isEndedLinkAllowed?: boolean | undefined;
};

type ChainOptions = {
  settlementChains: ReadonlySet<string>;
  /** Chains on which direct transfers to owners are tracked. */
  transferChains: ReadonlySet<string>;
};

type PayableLink = LinkView & { owner: Pick<OwnerView, "isSuspended" | "username"> };

/**
 * Builds the payment instructions for a link, or returns why there are none. Throws `ApiError` if
 * the requested amount has too many decimals or digits for the token. The money goes directly from
 * the payer to the owner. On EVM and Tron it passes through the fee proxy, which does not keep any
 * of it.
 */
export const buildPaymentInstructions = (
  link: PayableLink,
  token: CatalogueToken,
  {
    amount: requestedAmount,
    settlementChains,
    transferChains,
    now,
    isEndedLinkAllowed = false,
  }: InstructionsOptions & ChainOptions,
): InstructionsResult => {
  if (requestedAmount !== undefined) checkRequestedAmount(requestedAmount, token);
  const blockedReason = findBlockedReason(link, now);
  if (blockedReason !== undefined && !(isEndedLinkAllowed && isEndReason(blockedReason)))
    return { reason: blockedReason };
  if (!settlementChains.has(token.chain.id)) return { reason: "chain_not_watched" };
  const remaining = getRemainingAmount(link);
  const isPaidAgain = isEndedLinkAllowed && remaining.eq(0);
  const amount = requestedAmount ?? (isPaidAgain ? new Decimal(link.toAmount) : remaining);
  const amountBaseUnits = toBaseUnits(amount, token.decimals);
  const { chainType, id: chainId } = token.chain;
  if (!canSendAmount(chainType, amountBaseUnits)) return { reason: "amount_not_payable" };
  const instructions = buildInstructions(chainType, {
    link,
    token,
    amount: formatAmount(amount),
    amountBaseUnits,
    label: [...link.owner.username].slice(0, labelCharsMax).join(""),
    message: getPayerMessage(link),
    isSuffixFound: transferChains.has(chainId) && amount.gte(getSmallestDeposit(token)),
  });
  return instructions === undefined
    ? { reason: "no_fee_proxy" }
    : { instructions: { amount, amountBaseUnits, ...instructions } };
};

/**
 * The maximum lengths of the texts in a payment URI. If the URI is longer, cameras may fail to read
 * its QR code, or it may not fit into a QR code at all. One character can take up to 12 bytes in a
 * URL.
 */
const messageCharsMax = 80;
const labelCharsMax = 60;

/** Returns the description of a link that a wallet shows next to the owner's name. */
export const getPayerMessage = ({
  description,
}: Pick<LinkView, "description">): string | undefined =>
  description === null ? undefined : [...description].slice(0, messageCharsMax).join("");

/** The remaining amount of a link, and the smallest amount that can be sent on its chain. */
export type UnsendableRemainder = { amount: Decimal; smallestPayment: Decimal };

/**
 * Returns a link's remaining amount if it is too small to be sent on the link's chain (rule
 * STATE-16).
 */
export const getUnsendableRemainder = (
  link: Pick<LinkView, "toAmount" | "receivedAmount">,
  token: TokenUnits,
): UnsendableRemainder | undefined => {
  const amount = getRemainingAmount(link);
  const smallestAmount = getSmallestPayment(token);
  if (amount.isZero() || amount.greaterThanOrEqualTo(smallestAmount)) return undefined;
  return { amount, smallestPayment: smallestAmount };
};

/** Returns the remaining amount of a link, or 0 if it is fully paid or overpaid. */
export const getRemainingAmount = (link: Pick<LinkView, "toAmount" | "receivedAmount">): Decimal =>
  Decimal.max(0, new Decimal(link.toAmount).minus(link.receivedAmount));

const uint256Max = 2n ** 256n - 1n;

const checkRequestedAmount = (amount: Decimal, { decimals }: CatalogueToken): void => {
  if (!fitsDecimals(amount, decimals)) throw createApiError("INVALID_PAYMENT_LINK_AMOUNT");
  if (toBaseUnits(amount, decimals) > uint256Max) throw createValidationError("decimal_max_digits");
};

/** Returns whether a reason means that the link has ended. */
const isEndReason = (reason: NoInstructionsReason): boolean =>
  reason === "completed" || reason === "expired" || reason === "inactive";

const findBlockedReason = (link: PayableLink, now: Date): NoInstructionsReason | undefined => {
  const status = statusAt(link, now);
  if (status === "active") return link.owner.isSuspended ? "account_suspended" : undefined;
  if (status === "completed") return "completed";
  return link.expiresAt !== null && link.expiresAt <= now ? "expired" : "inactive";
};
