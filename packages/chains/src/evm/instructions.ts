import type { PaymentRequest } from "../payment-request.ts";
import { toHex } from "./address.ts";
import { encodeSuffixTransfer } from "./calldata.ts";
import { type ContractCalls, type PaymentWay, buildFeeProxyCalls } from "./fee-proxy.ts";

/**
 * Builds the calls that pay a link on an EVM chain. Returns undefined if the chain has no proxy for
 * the token.
 *
 * A token can also be paid in one batch, or by a direct transfer whose calldata suffix contains the
 * payment reference. settlement-listener has to be able to find this transfer (rule CHAIN-22).
 * EIP-2612 permits are not offered because the fee proxy does not accept them. A permit would add a
 * transaction instead of saving one.
 */
export const buildEvmInstructions = (request: PaymentRequest): ContractCalls | undefined => {
  const { amountBaseUnits, isSuffixFound, link, token } = request;
  const calls = buildFeeProxyCalls(request, toHex);
  if (calls === undefined || token.isNative) return calls;
  const { paymentReference, steps } = calls;
  const batch: PaymentWay = { kind: "batch", signatures: 1, steps };
  if (!isSuffixFound || token.takesSuffix === undefined)
    return { ...calls, ways: [batch, ...calls.ways] };
  const data = encodeSuffixTransfer({
    to: toHex(link.destinationAddress),
    amount: amountBaseUnits,
    reference: paymentReference,
  });
  const transferStep = { kind: "pay" as const, to: token.address, value: 0n, data };
  const suffix: PaymentWay = { kind: "suffix", signatures: 1, steps: [transferStep] };
  return { ...calls, ways: [batch, suffix, ...calls.ways] };
};
