import type { Request, Response } from "express";
import { getFamily } from "@payment-links/chains";
import type { RefundTransfer } from "@payment-links/chains/build-refund";
import {
  type CatalogueToken,
  type RefundInstructions,
  RefundInstructionsBody,
  createApiError,
  formatAmount,
} from "@payment-links/contracts";
import { readJsonBody, sendJson } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Dependencies } from "../dependencies.ts";
import { buildRefundTransfer, buildSolanaRefund } from "../domain/refund-instructions.ts";
import { type RefundOrder, parseRefundOrder } from "../domain/refund.ts";
import { findRefundablePayment } from "./find-refundable-payment.ts";
import { getOwnLink } from "./get-own-link.ts";
import { serializeTronCall } from "./serialize-checkout-link.ts";

/**
 * POST /console/api/payment-links/:id/refund-instructions: returns what the owner's wallet needs to
 * send a refund (rule CALLER-43). Stores nothing and sends nothing.
 */
export const prepareRefund =
  (dependencies: Dependencies) =>
  async (req: Request, res: Response, caller: Caller): Promise<void> => {
    const { account, paymentId, ...input } = await readJsonBody(req, RefundInstructionsBody);
    const { id: linkId } = await getOwnLink(dependencies, req, caller);
    const { token } = await findRefundablePayment(dependencies, dependencies.pool, {
      linkId,
      paymentId,
    });
    const order = parseRefundOrder(token, input);
    const transfer = buildRefundTransfer(token, order);
    const instructions: RefundInstructions = {
      destinationAddress: order.destinationAddress,
      amount: formatAmount(order.amount),
      wallet: transfer.wallet,
      chain: "chain" in transfer ? transfer.chain : null,
      call: "call" in transfer ? serializeCall(transfer.call, token) : null,
      transaction:
        transfer.wallet === "wallet-standard" && account !== null
          ? await buildSolanaTransaction(dependencies, { account, linkId, order, token })
          : null,
      uri: "uri" in transfer ? transfer.uri : null,
    };
    sendJson(res, 200, instructions);
  };

const serializeCall = (
  { data, to, tron, value }: Extract<RefundTransfer, { call: unknown }>["call"],
  { chain }: CatalogueToken,
): RefundInstructions["call"] => ({
  to,
  value: String(value),
  data,
  rpcUrl: chain.publicRpcUrl ?? null,
  ...(tron === undefined ? {} : { tron: serializeTronCall(tron) }),
});

type SolanaRefund = { token: CatalogueToken; order: RefundOrder; account: string; linkId: string };

const buildSolanaTransaction = async (
  { fetchSolanaAccountState, log }: Dependencies,
  { account, linkId, order, token }: SolanaRefund,
): Promise<string> => {
  const { chain, chainId, address: tokenAddress } = token;
  const parsedAccount = getFamily(chain.chainType).parseAddress(chainId, account);
  if ("fault" in parsedAccount) throw createApiError("INVALID_WALLET_ADDRESS");
  const sender = parsedAccount.address;
  const request = { chainId, tokenAddress, payer: sender, owner: order.destinationAddress };
  const accountState = await fetchSolanaAccountState(request).catch((error: unknown) => {
    log.warn({ err: error, chain: chainId }, "Solana account state unavailable");
    return undefined;
  });
  if (accountState === undefined) throw createApiError("SERVICE_UNAVAILABLE");
  return buildSolanaRefund(token, { ...order, account: sender }, accountState, linkId);
};
