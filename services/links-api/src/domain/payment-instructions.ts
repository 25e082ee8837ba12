import {
  type CatalogueToken,
  Decimal,
  buildBitcoinUri,
  fitsDecimals,
  createValidationError,
  type noInstructionsReasons,
  createApiError,
  buildSolanaTransferRequestUrl,
  deriveSolanaReference,
} from "@payment-links/contracts";
import { type ContractCalls, buildContractCalls } from "./contract-instructions.ts";
import type { LinkView, OwnerView } from "./link-view.ts";
import { statusAt } from "./link.ts";
import {
  type TokenUnits,
  canSendAmount,
  getSmallestPayment,
  toBaseUnits,
} from "./payable-amount.ts";

type PaymentAmount = { amount: Decimal; amountBaseUnits: bigint };

/** A transfer that a Solana wallet makes from one request. A reference key names the link. */
type SolanaTransfer = {
  transferRequestUrl: string;
  recipient: string;
  splToken: string | null;
  tokenProgram: "token" | "token-2022" | null;
  reference: string;
};

/** A payment on Bitcoin to the link's own address. */
type BitcoinPayment = { uri: string; address: string };

/** The amount and the calls that a payer sends through a fee proxy. */
export type CallInstructions = PaymentAmount & ContractCalls;

/** Everything a payer needs to pay a link, in the convention of the chain's family. */
export type PaymentInstructions =
  | CallInstructions
  | (PaymentAmount & (SolanaTransfer | BitcoinPayment));

/**
 * Returns the payment URI that a wallet opens or scans; undefined if the chain's family has none.
 */
export const getPaymentUri = (instructions: PaymentInstructions): string | undefined => {
  if ("uri" in instructions) return instructions.uri;
  return "transferRequestUrl" in instructions ? instructions.transferRequestUrl : undefined;
};

/** Why there are no payment instructions. */
export type NoInstructionsReason = (typeof noInstructionsReasons)[number];

/** The payment instructions for a link, or why there are none. */
export type InstructionsResult =
  | { instructions: PaymentInstructions }
  | { reason: NoInstructionsReason };

/** The payer's wishes and the time of the request. */
export type InstructionsOptions = {
  /** The amount that the payer wants to pay; defaults to the remaining amount. */
  amount?: Decimal | undefined;
  now: Date;
  /**
   * Builds instructions for an ended link as well. Only development uses it, to test overpaid and
   * late payments.
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
 * the token cannot express the requested amount. Money goes from payer to owner. On EVM and Tron it
 * passes through the proxy, which keeps nothing.
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
  const paymentAmount = { amount, amountBaseUnits };
  if (!canSendAmount(token.chain.chainType, amountBaseUnits))
    return { reason: "amount_not_payable" };
  switch (token.chain.chainType) {
    case "EVM":
    case "TVM": {
      const isTransferTracked = transferChains.has(token.chain.id);
      const calls = buildContractCalls({ link, token, isTransferTracked, ...paymentAmount });
      return calls === undefined
        ? { reason: "no_fee_proxy" }
        : { instructions: { ...paymentAmount, ...calls } };
    }
    case "SVM":
      return { instructions: { ...paymentAmount, ...buildSolanaTransfer(link, token, amount) } };
    case "BVM":
      return { instructions: { ...paymentAmount, ...buildBitcoinPayment(link, amount) } };
  }
};

/**
 * Cameras may fail to read the QR code of a longer text, or no code exists: a character can take
 * twelve bytes in a URL.
 */
const messageCharsMax = 80;
const labelCharsMax = 60;

/** Returns the description that a wallet shows next to the owner. */
export const getPayerMessage = ({
  description,
}: Pick<LinkView, "description">): string | undefined =>
  description === null ? undefined : [...description].slice(0, messageCharsMax).join("");

const getPayerTexts = (link: PayableLink) => ({
  label: [...link.owner.username].slice(0, labelCharsMax).join(""),
  message: getPayerMessage(link),
});

const buildSolanaTransfer = (
  link: PayableLink,
  token: CatalogueToken,
  amount: Decimal,
): SolanaTransfer => {
  const recipient = link.destinationAddress;
  const splToken = token.isNative ? null : token.address;
  const reference = deriveSolanaReference(link.paymentReference);
  const transferRequest = { recipient, amount, splToken: splToken ?? undefined, reference };
  return {
    // The memo also identifies the link for a person who reads the chain.
    transferRequestUrl: buildSolanaTransferRequestUrl({
      ...transferRequest,
      ...getPayerTexts(link),
      memo: link.id,
    }),
    recipient,
    splToken,
    tokenProgram: token.isNative ? null : (token.tokenProgram ?? "token"),
    reference,
  };
};

const buildBitcoinPayment = (link: PayableLink, amount: Decimal): BitcoinPayment => ({
  uri: buildBitcoinUri({ address: link.destinationAddress, amount, ...getPayerTexts(link) }),
  address: link.destinationAddress,
});

/** The remaining amount of a link, and the smallest amount that its chain can send. */
export type UnsendableRemainder = { amount: Decimal; smallestPayment: Decimal };

/** Returns a link's remaining amount if it is too small to be sent on its chain (rule STATE-16). */
export const getUnsendableRemainder = (
  link: Pick<LinkView, "toAmount" | "receivedAmount">,
  token: TokenUnits,
): UnsendableRemainder | undefined => {
  const amount = getRemainingAmount(link);
  const smallestAmount = getSmallestPayment(token);
  if (amount.isZero() || amount.greaterThanOrEqualTo(smallestAmount)) return undefined;
  return { amount, smallestPayment: smallestAmount };
};

/** Returns the remaining amount of a link; 0 if it is fully paid or overpaid. */
export const getRemainingAmount = (link: Pick<LinkView, "toAmount" | "receivedAmount">): Decimal =>
  Decimal.max(0, new Decimal(link.toAmount).minus(link.receivedAmount));

const uint256Max = 2n ** 256n - 1n;

const checkRequestedAmount = (amount: Decimal, { decimals }: CatalogueToken): void => {
  if (!fitsDecimals(amount, decimals)) throw createApiError("INVALID_PAYMENT_LINK_AMOUNT");
  if (toBaseUnits(amount, decimals) > uint256Max) throw createValidationError("decimal_max_digits");
};

/** Returns whether the reason is that the link has ended. */
const isEndReason = (reason: NoInstructionsReason): boolean =>
  reason === "completed" || reason === "expired" || reason === "inactive";

const findBlockedReason = (link: PayableLink, now: Date): NoInstructionsReason | undefined => {
  const status = statusAt(link, now);
  if (status === "active") return link.owner.isSuspended ? "account_suspended" : undefined;
  if (status === "completed") return "completed";
  return link.expiresAt !== null && link.expiresAt <= now ? "expired" : "inactive";
};
