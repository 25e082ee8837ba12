import type { Hex } from "viem";
import type { PaymentRequest } from "../payment-request.ts";
import type { TronCall } from "../tron/tron-call.ts";
import type { paymentWays } from "./payment-ways.ts";
import { encodeApprove, encodeNativePayment, encodeTokenPayment } from "./calldata.ts";

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
export type PaymentWay = {
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

/**
 * Builds the calls that pay a link through the fee proxy of its chain, one transaction after the
 * other. EVM chains and Tron have the same contracts. `toHexAddress` converts an address of the
 * family to 20 bytes of hex. Returns undefined if the chain has no proxy for the token.
 */
export const buildFeeProxyCalls = (
  { link, token, amountBaseUnits: amount }: PaymentRequest,
  toHexAddress: (address: string) => Hex,
): ContractCalls | undefined => {
  const { feeProxies } = token.chain;
  const proxyAddress = token.isNative ? feeProxies?.ethereum : feeProxies?.erc20;
  if (proxyAddress === undefined || proxyAddress === null) return undefined;
  const paymentReference: Hex = `0x${link.paymentReference}`;
  const to = toHexAddress(link.destinationAddress);
  const transfer = { to, amount, reference: paymentReference };
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
  const steps: PaymentStep[] = [
    ...(token.approveResetsFirst === true ? [createApproveStep("reset_allowance", 0n)] : []),
    createApproveStep("approve", amount),
    {
      kind: "pay",
      to: proxyAddress,
      value: 0n,
      data: encodeTokenPayment(toHexAddress(token.address), transfer),
    },
  ];
  const way: PaymentWay = { kind: "approve_and_pay", signatures: steps.length, steps };
  return { proxyAddress, paymentReference, steps, ways: [way] };
};
