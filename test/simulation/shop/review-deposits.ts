import type { Deposit, ListedDeposit } from "../deposit-model.ts";
import { assertInvariant } from "../finding.ts";
import type { Order } from "../model-transfer.ts";
import { getCookieHeader } from "./accounts.ts";
import { enqueueRequest, assertRetryable } from "./pending-requests.ts";
import type { Shop } from "./shop.ts";

/** Reviews the deposits of a random owner. */
export const reviewRandomAccountDeposits = (shop: Shop): void =>
  reviewDeposits(shop, shop.world.random.below(shop.accounts.length));

export const reviewAllDeposits = (shop: Shop): void =>
  shop.accounts.forEach((_, account) => reviewDeposits(shop, account));

/** Lists an owner's deposits and assigns some of them to correct or wrong links. */
const reviewDeposits = (shop: Shop, account: number): void => {
  const { model, world } = shop;
  const decisions = ["unmatched", "unmatched", "dismissed", "assigned"];
  enqueueRequest(shop, {
    description: `deposits of ${account}`,
    service: "links-api",
    createRequest: () => ({
      method: "GET",
      path: `/console/api/deposits?decision=${world.random.pick(decisions)}`,
      headers: getCookieHeader(shop, account),
    }),
    handleResponse: ({ status, text }) => {
      if (status !== 200) return assertRetryable(status, text, "a list of deposits");
      const { data } = JSON.parse(text) as { data: readonly ListedDeposit[] };
      const matchedDeposits = model.deposits.assertListed(account, data);
      for (const [index, listedDeposit] of data.entries()) {
        const deposit = matchedDeposits[index];
        if (deposit !== undefined) decideDeposit(shop, deposit, listedDeposit);
      }
      return true;
    },
  });
};

const decideDeposit = (shop: Shop, deposit: Deposit, { id, likelyLinks }: ListedDeposit): void => {
  const { random } = shop.world;
  const linkedOrders = shop.model.orders.filter(({ linkId }) => linkId !== undefined);
  const decision = random.below(5);
  if (decision === 1) dismissDeposit(shop, deposit, id);
  const ownOrders = linkedOrders.filter((order) => order.account === deposit.account);
  const likelyOrders = ownOrders.filter(({ linkId }) =>
    likelyLinks.some((likelyLink) => likelyLink.id === linkId),
  );
  const choosesOwnLink = random.chance(0.8);
  const candidateOrders =
    [likelyOrders, ownOrders].find((orders) => choosesOwnLink && orders.length > 0) ?? linkedOrders;
  // Some owners assign a deposit twice, and not always to the same link.
  if (decision < 2 || candidateOrders.length === 0) return;
  const preferredOrder = random.pick(candidateOrders);
  for (let assignCount = 1; assignCount < decision; assignCount += 1) {
    assignDeposit(shop, {
      deposit,
      id,
      order: random.chance(0.6) ? preferredOrder : random.pick(candidateOrders),
    });
  }
};

type Assignment = { deposit: Deposit; id: string; order: Order };

const assignDeposit = (shop: Shop, { deposit, id, order }: Assignment): void => {
  const { account, number } = deposit;
  const { world } = shop;
  deposit.requestedOrders.add(order);
  enqueueRequest(shop, {
    description: `assign deposit ${number} to ${order.number}`,
    service: "links-api",
    createRequest: () => ({
      method: "POST",
      path: `/console/api/deposits/${id}/assign`,
      headers: getCookieHeader(shop, account),
      body: JSON.stringify({ paymentLinkId: order.linkId }),
    }),
    handleResponse: ({ status, text }) => {
      if (status === 404) {
        assertInvariant(
          order.account !== account,
          () => `deposit ${number} was not found: ${text}`,
        );
        return true;
      }
      if (status === 409) {
        world.count("assignments rejected");
        return true;
      }
      if (status !== 200) return assertRetryable(status, text, "an assignment");
      world.count("deposits assigned");
      const previousOrder = deposit.assignedTo;
      assertInvariant(
        previousOrder === undefined || previousOrder === order,
        () =>
          `deposit ${number} was assigned to links ${previousOrder?.number} and ${order.number}`,
      );
      deposit.assignedTo = order;
      return true;
    },
  });
};

const dismissDeposit = (shop: Shop, deposit: Deposit, id: string): void => {
  deposit.isDismissalRequested = true;
  enqueueRequest(shop, {
    description: `dismiss deposit ${deposit.number}`,
    service: "links-api",
    createRequest: () => ({
      method: "POST",
      path: `/console/api/deposits/${id}/dismiss`,
      headers: getCookieHeader(shop, deposit.account),
    }),
    handleResponse: ({ status, text }) => {
      if (status === 200) deposit.isDismissed = true;
      return status === 200 || status === 409 || assertRetryable(status, text, "a dismissal");
    },
  });
};
