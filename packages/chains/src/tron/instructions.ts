import type { Hex } from "viem";
import { type ContractCalls, type PaymentStep, buildFeeProxyCalls } from "../evm/fee-proxy.ts";
import type { PaymentRequest } from "../payment-request.ts";
import { tronAddressToHex } from "./address.ts";
import { buildTronCall } from "./tron-call.ts";

/**
 * Builds the calls that pay a link on Tron. Returns undefined if the chain has no proxy for the
 * token.
 */
export const buildTronInstructions = (request: PaymentRequest): ContractCalls | undefined => {
  const calls = buildFeeProxyCalls(request, (address) => tronAddressToHex(address) as Hex);
  return (
    calls && {
      ...calls,
      steps: calls.steps.map(withTronCall),
      ways: calls.ways.map((way) => ({ ...way, steps: way.steps.map(withTronCall) })),
    }
  );
};

const withTronCall = (step: PaymentStep): PaymentStep => ({
  ...step,
  tron: buildTronCall(step.kind === "pay" ? "payToken" : "approve", step.data),
});
