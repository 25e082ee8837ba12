import { assertInvariant } from "../finding.ts";
import type { Order } from "../model-transfer.ts";
import { getCookieHeader, getApiKeyHeader } from "./accounts.ts";
import { enqueueRequest, assertRetryable } from "./pending-requests.ts";
import { payOnChain } from "./payments.ts";
import type { Shop } from "./shop.ts";

/** Places an order: the shop creates a link, and the payer opens the checkout. */
export const placeOrder = (shop: Shop): void => {
  const { model } = shop;
  const order = generateOrder(shop);
  model.orders.push(order);
  const { expiresAt, maxUsage, number, toAmount } = order;
  const body = JSON.stringify({
    toAmount: String(toAmount),
    description: `Order ${number}`,
    ...(maxUsage === null ? {} : { maxUsage }),
    ...(expiresAt === null ? {} : { expirationDate: expiresAt.toISOString() }),
  });
  enqueueRequest(shop, {
    description: `order ${number}`,
    service: "links-api",
    createRequest: () => ({
      method: "POST",
      path: "/v1/payment-link",
      headers: { ...getApiKeyHeader(shop, order.account), "idempotency-key": `order-${number}` },
      body,
    }),
    handleResponse: ({ status, text }) => {
      // The link expired before it was stored.
      if (status === 422 && expiresAt !== null) {
        model.orders.splice(model.orders.indexOf(order), 1);
        return true;
      }
      if (text.includes("IDEMPOTENCY_KEY_IN_USE")) return false;
      if (status !== 200) return assertRetryable(status, text, "an order");
      const { id } = JSON.parse(text);
      assertInvariant(
        order.linkId === undefined || order.linkId === id,
        () => `order ${number} created two links`,
      );
      order.linkId = id;
      fetchCheckout(shop, order);
      return true;
    },
  });
};

const generateOrder = (shop: Shop): Order => {
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
    isDeactivationRequested: false,
    isDeactivated: false,
    previouslyKnownHashes: new Set(shop.knownTransactionHashes),
    reference: undefined,
  };
};

type PaymentInstructions = Partial<Record<"paymentReference" | "reference" | "address", string>>;

const fetchCheckout = (shop: Shop, order: Order): void =>
  enqueueRequest(shop, {
    description: `checkout ${order.number}`,
    service: "links-api",
    createRequest: () => ({ method: "GET", path: `/checkout/payment-links/${order.linkId}` }),
    handleResponse: ({ status, text }) => {
      if (status !== 200) return assertRetryable(status, text, "a checkout");
      const { random } = shop.world;
      const { instructions } = JSON.parse(text) as { instructions: PaymentInstructions | null };
      order.reference =
        instructions?.paymentReference ?? instructions?.reference ?? instructions?.address;
      // Some payers pay before all services have received the link.
      if (order.reference !== undefined && random.chance(0.5)) {
        for (let paymentIndex = random.below(3); paymentIndex >= 0; paymentIndex -= 1) {
          payOnChain(shop, order, order.reference);
        }
      }
      return true;
    },
  });

export const deactivateLink = (shop: Shop, order: Order): void => {
  order.isDeactivationRequested = true;
  enqueueRequest(shop, {
    description: `deactivate ${order.number}`,
    service: "links-api",
    createRequest: () => ({
      method: "POST",
      path: `/console/api/payment-links/${order.linkId}/deactivate`,
      headers: getCookieHeader(shop, order.account),
    }),
    handleResponse: ({ status, text }) => {
      if (status === 200) order.isDeactivated = true;
      return status === 200 || status === 409 || assertRetryable(status, text, "a deactivation");
    },
  });
};
