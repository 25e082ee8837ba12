import { hold } from "../finding.ts";
import type { Order } from "../money.ts";
import { cookieOf, keyOf } from "./accounts.ts";
import { ask, isUnanswered } from "./errands.ts";
import { payOnChain } from "./payments.ts";
import type { Shop } from "./shop.ts";

/** A shop asks for a link, and its payer for the checkout. */
export const placeOrder = (shop: Shop): void => {
  const { model } = shop;
  const order = drawOrder(shop);
  model.orders.push(order);
  const { expiresAt, maxUsage, number, toAmount } = order;
  const body = JSON.stringify({
    toAmount: String(toAmount),
    description: `Order ${number}`,
    ...(maxUsage === null ? {} : { maxUsage }),
    ...(expiresAt === null ? {} : { expirationDate: expiresAt.toISOString() }),
  });
  ask(shop, {
    what: `order ${number}`,
    service: "links-api",
    send: () => ({
      method: "POST",
      path: "/v1/payment-link",
      headers: { ...keyOf(shop, order.account), "idempotency-key": `order-${number}` },
      body,
    }),
    answered: ({ status, text }) => {
      // The expiry has passed before it was ever stored.
      if (status === 422 && expiresAt !== null) {
        model.orders.splice(model.orders.indexOf(order), 1);
        return true;
      }
      if (text.includes("IDEMPOTENCY_KEY_IN_USE")) return false;
      if (status !== 200) return isUnanswered(status, text, "an order");
      const { id } = JSON.parse(text);
      hold(
        order.linkId === undefined || order.linkId === id,
        () => `order ${number} became two links`,
      );
      order.linkId = id;
      readCheckout(shop, order);
      return true;
    },
  });
};

const drawOrder = (shop: Shop): Order => {
  const { random } = shop.world;
  shop.orderCount += 1;
  const expiresInMs = 1_000 * (5 + random.below(60));
  return {
    number: shop.orderCount,
    account: random.below(shop.accounts.length),
    toAmount: 1 + random.below(20),
    maxUsage: random.chance(0.3) ? 1 + random.below(3) : null,
    expiresAt: random.chance(0.2) ? new Date(shop.world.nowMs() + expiresInMs) : null,
    linkId: undefined,
    isDeactivationAsked: false,
    isDeactivated: false,
    olderHashes: new Set(shop.knownHashes),
    reference: undefined,
  };
};

type Named = Partial<Record<"paymentReference" | "reference" | "address", string>>;

const readCheckout = (shop: Shop, order: Order): void =>
  ask(shop, {
    what: `checkout ${order.number}`,
    service: "links-api",
    send: () => ({ method: "GET", path: `/checkout/payment-links/${order.linkId}` }),
    answered: ({ status, text }) => {
      if (status !== 200) return isUnanswered(status, text, "a checkout");
      const { random } = shop.world;
      const { instructions } = JSON.parse(text) as { instructions: Named | null };
      order.reference =
        instructions?.paymentReference ?? instructions?.reference ?? instructions?.address;
      // Some payers wait for nothing: their payment is there before everybody has heard of the link.
      if (order.reference !== undefined && random.chance(0.5)) {
        for (let paid = random.below(3); paid >= 0; paid -= 1) {
          payOnChain(shop, order, order.reference);
        }
      }
      return true;
    },
  });

/** An owner ends a link. */
export const deactivate = (shop: Shop, order: Order): void => {
  order.isDeactivationAsked = true;
  ask(shop, {
    what: `deactivate ${order.number}`,
    service: "links-api",
    send: () => ({
      method: "POST",
      path: `/console/api/payment-links/${order.linkId}/deactivate`,
      headers: cookieOf(shop, order.account),
    }),
    answered: ({ status, text }) => {
      if (status === 200) order.isDeactivated = true;
      return status === 200 || status === 409 || isUnanswered(status, text, "a deactivation");
    },
  });
};
