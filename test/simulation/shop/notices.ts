import { signNotice } from "../../rig/client.ts";
import { bitcoin } from "../chain-kinds.ts";
import { type Flaw, type Order, type Payment, initialTransferState } from "../model-transfer.ts";
import { enqueueRequest, assertRetryable } from "./pending-requests.ts";
import type { Shop } from "./shop.ts";

/** The provider of settlement notices, and its secret. */
export const noticeProvider = { name: "acme", secret: "whsec_c2V0dGxlbWVudC1ub3RpY2VzLXRlc3Q=" };

/** Pays through a provider, which sends one or more notices. */
export const payByProvider = (shop: Shop, order: Order): void => {
  const { model, world } = shop;
  const { random } = world;
  const number = model.payments.length + 1;
  const flaws: readonly Flaw[] = ["wrong_token", "wrong_destination"];
  const occurredAt = new Date(world.nowMs() - 1_000 * random.below(10));
  const payment: Payment = {
    number,
    order,
    amount: String(1 + random.below(12) / 2),
    flaw: random.chance(0.1) ? random.pick(flaws) : undefined,
    sentAt: occurredAt,
    occurredAt,
    ...initialTransferState,
    hash: `0x${String(number).padStart(4, "0")}`,
    finalStatus: random.chance(0.85) ? "settled" : "failed",
    isOnChain: false,
  };
  model.payments.push(payment);
  if (random.chance(0.4)) sendNotice(shop, payment, "processing");
  sendNotice(shop, payment, payment.finalStatus);
  if (random.chance(0.2)) sendNotice(shop, payment, payment.finalStatus);
};

/**
 * Sends provider notices for settled on-chain payments, before or after the chain reports them
 * (rule STATE-14).
 */
export const reportOnChainPayments = (shop: Shop, countMax: number): void => {
  const { model, world } = shop;
  const reportablePayments = model.payments.filter(
    ({
      finalStatus,
      flaw,
      isDoubtful,
      isFinal,
      isForged,
      isOnChain,
      isAlsoReportedByProvider,
      order,
    }) =>
      isOnChain &&
      isFinal &&
      finalStatus === "settled" &&
      flaw === undefined &&
      order.linkId !== undefined &&
      !isAlsoReportedByProvider &&
      !isForged &&
      !isDoubtful,
  );
  for (const payment of reportablePayments.slice(0, countMax)) {
    payment.isAlsoReportedByProvider = true;
    world.count("notices of payments on chain");
    sendNotice(shop, payment, "settled");
  }
};

const sendNotice = (
  shop: Shop,
  payment: Payment,
  status: "processing" | Payment["finalStatus"],
): void => {
  const { number } = payment;
  enqueueRequest(shop, {
    description: `notice ${number} ${status}`,
    service: "settlement-listener",
    createRequest: () => {
      if (status !== "processing") payment.isFinal = true;
      const body = serializeNotice(shop, payment, status);
      const id = `msg_${number}_${status}`;
      return {
        method: "POST",
        path: `/settlement-notices/${noticeProvider.name}`,
        headers: signNotice(noticeProvider.secret, { id, sentAtMs: shop.world.nowMs(), body }),
        body,
      };
    },
    handleResponse: ({ status: responseStatus, text }) =>
      responseStatus === 202 || assertRetryable(responseStatus, text, "a notice"),
  });
};

const serializeNotice = (
  { kind }: Shop,
  { amount, flaw, hash, number, occurredAt, order }: Payment,
  status: string,
): string => {
  // On Bitcoin, each link has its own address.
  const linkAddress = (kind === bitcoin ? order.reference : kind.wallets[order.account]) ?? "";
  return JSON.stringify({
    id: `payment-${number}`,
    paymentLinkId: order.linkId,
    status,
    amount,
    chainId: flaw === "wrong_token" ? "1" : kind.chainId,
    tokenAddress: kind.tokens[0].address,
    destinationAddress: flaw === "wrong_destination" ? kind.otherWallet : linkAddress,
    sourceTransaction: hash,
    occurredAt: occurredAt.toISOString(),
  });
};
