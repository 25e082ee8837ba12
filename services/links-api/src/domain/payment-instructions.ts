import {
  type CatalogueToken,
  Decimal,
  fitsDecimals,
  invalid,
  type noInstructionsReasons,
  refuse,
} from "@payment-links/contracts";
import { encodeApprove, encodeNativePayment, encodeTokenPayment } from "./proxy-calldata.ts";
import type { LinkView, OwnerView } from "./link-view.ts";
import { statusAt } from "./link.ts";

type Hex = `0x${string}`;

/** One transaction that a payer sends; `value` is in the native coin's base units. */
export type PaymentStep = {
  kind: "reset_allowance" | "approve" | "pay";
  to: Hex;
  value: bigint;
  data: Hex;
};

/** All that a payer needs to pay a link on its chain, in the order in which it is sent. */
export type PaymentInstructions = {
  amount: Decimal;
  amountBaseUnits: bigint;
  proxyAddress: Hex;
  paymentReference: Hex;
  steps: readonly PaymentStep[];
};

/** Why a payer is not told how to pay. */
export type NoInstructionsReason = (typeof noInstructionsReasons)[number];

type Wish = {
  /** What the payer wants to pay; if not given, what remains to be paid. */
  amount: Decimal | undefined;
  settlementChains: ReadonlySet<string>;
  now: Date;
};

type PayableLink = LinkView & { owner: Pick<OwnerView, "isSuspended"> };

/**
 * Decides how a payer pays a link on its chain, or why not. Refuses a wished amount that the token
 * cannot express. Money goes from payer to owner through the proxy, which keeps nothing.
 */
export const instructPayer = (
  link: PayableLink,
  token: CatalogueToken,
  { amount: wished, settlementChains, now }: Wish,
): { instructions: PaymentInstructions } | { reason: NoInstructionsReason } => {
  if (wished !== undefined) checkWish(wished, token);
  const refusal = refusalOf(link, now);
  if (refusal !== undefined) return { reason: refusal };
  if (!settlementChains.has(token.chain.id)) return { reason: "chain_not_watched" };
  const { feeProxies } = token.chain;
  const proxy = token.isNative ? feeProxies?.ethereum : feeProxies?.erc20;
  if (proxy === undefined || proxy === null) return { reason: "no_fee_proxy" };

  const amount = wished ?? remainingAmount(link);
  const amountBaseUnits = toBaseUnits(amount, token.decimals);
  if (amountBaseUnits > uint256Max) return { reason: "amount_not_payable" };
  const proxyAddress = hex(proxy);
  const paymentReference: Hex = `0x${link.paymentReference}`;
  const payment = {
    to: hex(link.destinationAddress),
    amount: amountBaseUnits,
    reference: paymentReference,
  };
  const steps = token.isNative
    ? nativeSteps(proxyAddress, payment)
    : tokenSteps(proxyAddress, token, payment);
  return { instructions: { amount, amountBaseUnits, proxyAddress, paymentReference, steps } };
};

/** What is still to be paid of a link; 0 if it has received all or more. */
export const remainingAmount = (link: Pick<LinkView, "toAmount" | "receivedAmount">): Decimal =>
  Decimal.max(0, new Decimal(link.toAmount).minus(link.receivedAmount));

const uint256Max = 2n ** 256n - 1n;

const checkWish = (amount: Decimal, { decimals }: CatalogueToken): void => {
  if (!fitsDecimals(amount, decimals)) throw refuse("INVALID_PAYMENT_LINK_AMOUNT");
  if (toBaseUnits(amount, decimals) > uint256Max) throw invalid("decimal_max_digits");
};

const refusalOf = (link: PayableLink, now: Date): NoInstructionsReason | undefined => {
  const status = statusAt(link, now);
  if (status === "active") return link.owner.isSuspended ? "account_suspended" : undefined;
  if (status === "completed") return "completed";
  return link.expiresAt !== null && link.expiresAt <= now ? "expired" : "inactive";
};

type Payment = { to: Hex; amount: bigint; reference: Hex };

const tokenSteps = (proxy: Hex, token: CatalogueToken, payment: Payment): PaymentStep[] => {
  const to = hex(token.address);
  const value = 0n;
  const steps: PaymentStep[] = [
    { kind: "approve", to, value, data: encodeApprove(proxy, payment.amount) },
    { kind: "pay", to: proxy, value, data: encodeTokenPayment(to, payment) },
  ];
  if (token.approveResetsFirst !== true) return steps;
  return [{ kind: "reset_allowance", to, value, data: encodeApprove(proxy, 0n) }, ...steps];
};

const nativeSteps = (proxy: Hex, payment: Payment): PaymentStep[] => [
  { kind: "pay", to: proxy, value: payment.amount, data: encodeNativePayment(payment) },
];

const toBaseUnits = (amount: Decimal, decimals: number): bigint =>
  BigInt(amount.times(new Decimal(10).pow(decimals)).toFixed(0));

// On EVM chains the catalogue, and the wallets of links, hold EIP-55 addresses.
const hex = (address: string): Hex => `0x${address.slice(2)}`;
