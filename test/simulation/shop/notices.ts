import { createHmac } from "node:crypto";
import { bitcoin } from "../chain-kinds.ts";
import { type Flaw, type Order, type Payment, freshMoney } from "../money.ts";
import { ask, isUnanswered } from "./errands.ts";
import type { Shop } from "./shop.ts";

/** The provider of notices, and its secret. */
export const acme = { name: "acme", secret: "whsec_c2V0dGxlbWVudC1ub3RpY2VzLXRlc3Q=" };

/** Somebody pays by a provider, which tells of it, perhaps more than once. */
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
    ...freshMoney,
    hash: `0x${String(number).padStart(4, "0")}`,
    end: random.chance(0.85) ? "settled" : "failed",
    isOnChain: false,
  };
  model.payments.push(payment);
  if (random.chance(0.4)) tellNotice(shop, payment, "processing");
  tellNotice(shop, payment, payment.end);
  if (random.chance(0.2)) tellNotice(shop, payment, payment.end);
};

/**
 * The provider reports settled payments that the watched chain holds as well, whichever of both comes first
 * (rule STATE-14).
 */
export const repeatSome = (shop: Shop, countMax: number): void => {
  const { model, world } = shop;
  const open = model.payments.filter(
    ({ end, flaw, isDoubtful, isEndTold, isForged, isOnChain, isRepeated, order }) =>
      isOnChain &&
      isEndTold &&
      end === "settled" &&
      flaw === undefined &&
      order.linkId !== undefined &&
      !isRepeated &&
      !isForged &&
      !isDoubtful,
  );
  for (const payment of open.slice(0, countMax)) {
    payment.isRepeated = true;
    world.count("notices of payments on chain");
    tellNotice(shop, payment, "settled");
  }
};

const tellNotice = (shop: Shop, payment: Payment, status: "processing" | Payment["end"]): void => {
  const { number } = payment;
  ask(shop, {
    what: `notice ${number} ${status}`,
    service: "settlement-listener",
    send: () => {
      if (status !== "processing") payment.isEndTold = true;
      const nowMs = shop.world.nowMs();
      const body = bodyOf(shop, payment, status);
      const id = `msg_${number}_${status}`;
      return {
        method: "POST",
        path: `/settlement-notices/${acme.name}`,
        headers: {
          "webhook-id": id,
          "webhook-timestamp": String(Math.floor(nowMs / 1000)),
          "webhook-signature": signNotice(id, nowMs, body),
        },
        body,
      };
    },
    answered: ({ status: answer, text }) =>
      answer === 202 || isUnanswered(answer, text, "a notice"),
  });
};

const bodyOf = (
  { kind }: Shop,
  { amount, flaw, hash, number, occurredAt, order }: Payment,
  status: string,
): string => {
  // On Bitcoin a link has an address of its own.
  const own = (kind === bitcoin ? order.reference : kind.wallets[order.account]) ?? "";
  return JSON.stringify({
    id: `payment-${number}`,
    paymentLinkId: order.linkId,
    status,
    amount,
    chainId: flaw === "wrong_token" ? "1" : kind.chainId,
    tokenAddress: kind.tokens[0].address,
    destinationAddress: flaw === "wrong_destination" ? kind.otherWallet : own,
    sourceTransaction: hash,
    occurredAt: occurredAt.toISOString(),
  });
};

/** As Standard Webhooks 1.0 has it. */
const signNotice = (id: string, nowMs: number, body: string): string => {
  const key = Buffer.from(acme.secret.slice("whsec_".length), "base64");
  const signed = `${id}.${Math.floor(nowMs / 1000)}.${body}`;
  return `v1,${createHmac("sha256", key).update(signed).digest("base64")}`;
};
