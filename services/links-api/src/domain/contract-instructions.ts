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

/** A call in the form that Tron wallets accept, with limits on what it can cost the payer. */
export type TronCall = {
  functionSelector: string;
  parameter: string;
  energyMax: number;
  feeLimitSun: bigint;
};

/** One transaction that a payer sends. `value` is in base units of the native coin. */
export type PaymentStep = {
  kind: "reset_allowance" | "approve" | "pay";
  /** In the address format of the chain's family. */
  to: string;
  value: bigint;
  data: Hex;
  tron?: TronCall;
};

/**
 * One way to pay: its steps and the maximum number of signatures. A payer who has already approved
 * enough of the token needs fewer signatures.
 */
type PaymentWay = {
  kind: (typeof paymentWays)[number];
  signatures: number;
  steps: readonly PaymentStep[];
};

/**
 * The transactions that a payer sends through a fee proxy, in order, and all ways to pay, with the
 * preferred one first.
 */
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
  /** Whether direct transfers to owners are tracked on the token's chain. */
  isTransferTracked: boolean;
};

/**
 * Builds the calls that pay a link through the fee proxy of the link's chain. Returns undefined if
 * the chain has no proxy for the token.
 */
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
 * Returns whether a link can be paid by a direct transfer whose calldata suffix contains the
 * payment reference. settlement-listener has to be able to detect this transfer (rule CHAIN-22).
 * EIP-2612 permits are not offered because the fee proxy does not accept them. A permit would add a
 * transaction instead of saving one.
 */
const canUseSuffix = ({ amount, isTransferTracked, token }: ContractPayment): boolean =>
  isTransferTracked && token.takesSuffix !== undefined && amount.gte(getSmallestDeposit(token));

/**
 * The highest price of one unit of energy that Tron has ever had, in sun. Payers pay for the energy
 * that they use, not for the limit.
 */
const sunPerEnergy = 420n;

/**
 * Upper limits for the energy of a call.
 *
 * On an EVM node, an approval of the test token uses 25,131 gas, and its payment through the proxy
 * uses 46,291 gas, without the 21,000 gas that every transaction costs
 * (`test/checkout-browser/tron.test.ts`). Tron charges up to 4.4 times as much energy for a heavily
 * used contract such as USDT (TIP-491, with the network parameter `getDynamicEnergyMaxFactor` at
 * 34000 on 2026-11-23). The rest is a safety margin, because neither Tron nor the USDT contract was
 * measured.
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

// On EVM chains, the catalogue and the wallets of links contain addresses in EIP-55 form.
const toHex = (address: string): Hex => `0x${address.slice(2)}`;
