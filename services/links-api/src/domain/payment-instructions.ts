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

/** A transfer that a wallet on Solana makes by one request, which names the link by a key. */
type SolanaTransfer = {
  transferRequestUrl: string;
  recipient: string;
  splToken: string | null;
  tokenProgram: "token" | "token-2022" | null;
  reference: string;
};

/** A payment on Bitcoin to the link's own address. */
type BitcoinPayment = { uri: string; address: string };

/** What a payer sends through a fee proxy, with how much that is. */
export type CallInstructions = PaymentAmount & ContractCalls;

/** All that a payer needs to pay a link on its chain, by the convention of the chain's family. */
export type PaymentInstructions =
  | CallInstructions
  | (PaymentAmount & (SolanaTransfer | BitcoinPayment));

/** The request that a wallet opens or scans; undefined where the family has none. */
export const getPaymentUri = (instructions: PaymentInstructions): string | undefined => {
  if ("uri" in instructions) return instructions.uri;
  return "transferRequestUrl" in instructions ? instructions.transferRequestUrl : undefined;
};

/** Why a payer is not told how to pay. */
export type NoInstructionsReason = (typeof noInstructionsReasons)[number];

/** How a link is paid, or why not. */
export type InstructionsResult =
  | { instructions: PaymentInstructions }
  | { reason: NoInstructionsReason };

/** What a payer wants, and when. */
export type InstructionsOptions = {
  /** What the payer wants to pay; if not given, what remains to be paid. */
  amount?: Decimal | undefined;
  now: Date;
  /** Instructs for a link that has ended as well: development alone pays one too often or too late. */
  isEndedLinkAllowed?: boolean | undefined;
};

type ChainOptions = {
  settlementChains: ReadonlySet<string>;
  /** Where transfers straight to owners are read. */
  transferChains: ReadonlySet<string>;
};

type PayableLink = LinkView & { owner: Pick<OwnerView, "isSuspended" | "username"> };

/**
 * Decides how a payer pays a link on its chain, or why not. Refuses a wished amount that the token
 * cannot express. Money goes from payer to owner, on EVM and Tron through the proxy, which keeps nothing.
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

/** Longer texts make a QR code that cameras do not read, or none: in an address each may take twelve bytes. */
const messageCharsMax = 80;
const labelCharsMax = 60;

/** What a wallet shows of a link beside its owner. */
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
    // The memo is a second sign of the link, for whoever reads the chain by hand.
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

/** What a link lacks, and the smallest amount that its chain can send. */
export type UnsendableRemainder = { amount: Decimal; smallestPayment: Decimal };

/** Returns what a link lacks, if that is too small to be sent on its chain (rule STATE-16). */
export const getUnsendableRemainder = (
  link: Pick<LinkView, "toAmount" | "receivedAmount">,
  token: TokenUnits,
): UnsendableRemainder | undefined => {
  const amount = getRemainingAmount(link);
  const smallestAmount = getSmallestPayment(token);
  if (amount.isZero() || amount.greaterThanOrEqualTo(smallestAmount)) return undefined;
  return { amount, smallestPayment: smallestAmount };
};

/** What is still to be paid of a link; 0 if it has received all or more. */
export const getRemainingAmount = (link: Pick<LinkView, "toAmount" | "receivedAmount">): Decimal =>
  Decimal.max(0, new Decimal(link.toAmount).minus(link.receivedAmount));

const uint256Max = 2n ** 256n - 1n;

const checkRequestedAmount = (amount: Decimal, { decimals }: CatalogueToken): void => {
  if (!fitsDecimals(amount, decimals)) throw createApiError("INVALID_PAYMENT_LINK_AMOUNT");
  if (toBaseUnits(amount, decimals) > uint256Max) throw createValidationError("decimal_max_digits");
};

/** The reasons of a link that has ended, for whatever cause. */
const isEndReason = (reason: NoInstructionsReason): boolean =>
  reason === "completed" || reason === "expired" || reason === "inactive";

const findBlockedReason = (link: PayableLink, now: Date): NoInstructionsReason | undefined => {
  const status = statusAt(link, now);
  if (status === "active") return link.owner.isSuspended ? "account_suspended" : undefined;
  if (status === "completed") return "completed";
  return link.expiresAt !== null && link.expiresAt <= now ? "expired" : "inactive";
};
