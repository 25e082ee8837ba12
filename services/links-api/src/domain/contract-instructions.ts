import {
  type CatalogueToken,
  type Decimal,
  type paymentWays,
  getSmallestDeposit,
  tronAddressToHex,
} from "@payment-links/contracts";
import type { LinkView } from "./link-view.ts";
import {
  encodeApprove,
  encodeSuffixTransfer,
  encodeNativePayment,
  encodeTokenPayment,
} from "./proxy-calldata.ts";

type Hex = `0x${string}`;

/** A call as Tron's wallets take it, and what it may cost a payer. */
export type TronCall = {
  functionSelector: string;
  parameter: string;
  energyMax: number;
  feeLimitSun: bigint;
};

/** One transaction that a payer sends; `value` is in the native coin's base units. */
export type PaymentStep = {
  kind: "reset_allowance" | "approve" | "pay";
  /** In the form of the chain's family. */
  to: string;
  value: bigint;
  data: Hex;
  tron?: TronCall;
};

/** A way to pay: all its steps, and how often their payer is asked to sign, or less where something stands already. */
type PaymentWay = {
  kind: (typeof paymentWays)[number];
  signatures: number;
  steps: readonly PaymentStep[];
};

/** What a payer sends through a fee proxy, in the order in which it is sent, and all ways in order. */
export type ContractCalls = {
  proxyAddress: string;
  paymentReference: Hex;
  steps: readonly PaymentStep[];
  ways: readonly PaymentWay[];
};

type ContractPayment = {
  link: LinkView;
  token: CatalogueToken;
  amount: Decimal;
  amountBaseUnits: bigint;
  /** Whether somebody looks at transfers straight to owners on the token's chain. */
  isTransferTracked: boolean;
};

/** How a link is paid through the fee proxy of its chain; undefined where that has none for its token. */
export const buildContractCalls = (contractPayment: ContractPayment): ContractCalls | undefined => {
  const { link, token, amountBaseUnits: amount } = contractPayment;
  const { feeProxies, chainType } = token.chain;
  const proxyAddress = token.isNative ? feeProxies?.ethereum : feeProxies?.erc20;
  if (proxyAddress === undefined || proxyAddress === null) return undefined;
  const paymentReference: Hex = `0x${link.paymentReference}`;
  const isTron = chainType === "TVM";
  const toHexAddress = (address: string): Hex =>
    toHex(isTron ? tronAddressToHex(address) : address);
  const transfer = {
    to: toHexAddress(link.destinationAddress),
    amount,
    reference: paymentReference,
  };
  if (token.isNative) {
    const data = encodeNativePayment(transfer);
    const steps: PaymentStep[] = [{ kind: "pay", to: proxyAddress, value: amount, data }];
    return { proxyAddress, paymentReference, steps, ways: [{ kind: "pay", signatures: 1, steps }] };
  }
  const createApproveStep = (
    kind: "reset_allowance" | "approve",
    allowance: bigint,
  ): PaymentStep => ({
    kind,
    to: token.address,
    value: 0n,
    data: encodeApprove(toHexAddress(proxyAddress), allowance),
  });
  const evmSteps: PaymentStep[] = [
    ...(token.approveResetsFirst === true ? [createApproveStep("reset_allowance", 0n)] : []),
    createApproveStep("approve", amount),
    {
      kind: "pay",
      to: proxyAddress,
      value: 0n,
      data: encodeTokenPayment(toHexAddress(token.address), transfer),
    },
  ];
  const steps = isTron ? evmSteps.map(withTronCall) : evmSteps;
  const sequentialWay: PaymentWay = { kind: "approve_and_pay", signatures: steps.length, steps };
  if (isTron) return { proxyAddress, paymentReference, steps, ways: [sequentialWay] };
  const directTransfer: PaymentStep = {
    kind: "pay",
    to: token.address,
    value: 0n,
    data: encodeSuffixTransfer(transfer),
  };
  const ways: PaymentWay[] = [
    { kind: "batch", signatures: 1, steps },
    ...(canUseSuffix(contractPayment)
      ? [{ kind: "suffix" as const, signatures: 1, steps: [directTransfer] }]
      : []),
    sequentialWay,
  ];
  return { proxyAddress, paymentReference, steps, ways };
};

/**
 * Whether a transfer that names its link by a suffix would be found (rule CHAIN-22). There is no way by
 * EIP-2612: the fee proxy takes no permit, so it would be one more transaction, not one less.
 */
const canUseSuffix = ({ amount, isTransferTracked, token }: ContractPayment): boolean =>
  isTransferTracked && token.takesSuffix !== undefined && amount.gte(getSmallestDeposit(token));

/** The highest price of energy that Tron has had, in sun. It charges what the call takes, not the limit. */
const sunPerEnergy = 420n;

/**
 * Bounds of the energy that a call takes. An EVM node counts 25,131 for an allowance of the local token and
 * 46,291 for its payment through the proxy, besides the 21,000 of any transaction (`test/checkout-browser/tron.test.ts`).
 * Of a much-used contract, as USDT's is, Tron takes up to 4.4 times that (TIP-491, with the network's
 * `getDynamicEnergyMaxFactor` of 34000, read on 2026-11-23). The rest is room: neither Tron nor USDT's own
 * code was measured.
 */
const energyMax = { allowance: 120_000, pay: 400_000 };

const selectors = {
  allowance: "approve(address,uint256)",
  pay: "transferFromWithReferenceAndFee(address,address,uint256,bytes,uint256,address)",
};

const withTronCall = (step: PaymentStep): PaymentStep => {
  const callKind = step.kind === "pay" ? "pay" : "allowance";
  const callEnergyMax = energyMax[callKind];
  return {
    ...step,
    tron: {
      functionSelector: selectors[callKind],
      parameter: step.data.slice("0x".length + 8),
      energyMax: callEnergyMax,
      feeLimitSun: BigInt(callEnergyMax) * sunPerEnergy,
    },
  };
};

// On EVM chains the catalogue, and the wallets of links, hold EIP-55 addresses.
const toHex = (address: string): Hex => `0x${address.slice(2)}`;
