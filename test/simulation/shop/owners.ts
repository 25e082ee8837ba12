import type { Deposit, ShownDeposit } from "../deposit-model.ts";
import { hold } from "../finding.ts";
import type { Order } from "../money.ts";
import { cookieOf } from "./accounts.ts";
import { ask, isUnanswered } from "./errands.ts";
import type { Shop } from "./shop.ts";

/** Some owner looks at what came. */
export const lookAtSomeDeposits = (shop: Shop): void =>
  lookAtDeposits(shop, shop.world.random.below(shop.accounts.length));

export const lookAtAllDeposits = (shop: Shop): void =>
  shop.accounts.forEach((_, account) => lookAtDeposits(shop, account));

/** An owner looks at what came, and says of some of it what it was for, rightly or not. */
const lookAtDeposits = (shop: Shop, account: number): void => {
  const { model, world } = shop;
  const decisions = ["unmatched", "unmatched", "dismissed", "assigned"];
  ask(shop, {
    what: `deposits of ${account}`,
    service: "links-api",
    send: () => ({
      method: "GET",
      path: `/console/api/deposits?decision=${world.random.pick(decisions)}`,
      headers: cookieOf(shop, account),
    }),
    answered: ({ status, text }) => {
      if (status !== 200) return isUnanswered(status, text, "a list of deposits");
      const { data } = JSON.parse(text) as { data: readonly ShownDeposit[] };
      const listed = model.deposits.listed(account, data);
      for (const [index, shown] of data.entries()) {
        const deposit = listed[index];
        if (deposit !== undefined) decideOn(shop, deposit, shown);
      }
      return true;
    },
  });
};

const decideOn = (shop: Shop, deposit: Deposit, { id, likelyLinks }: ShownDeposit): void => {
  const { random } = shop.world;
  const linked = shop.model.orders.filter(({ linkId }) => linkId !== undefined);
  const deciding = random.below(5);
  if (deciding === 1) dismiss(shop, deposit, id);
  const own = linked.filter((order) => order.account === deposit.account);
  const likely = own.filter(({ linkId }) => likelyLinks.some((link) => link.id === linkId));
  const isRight = random.chance(0.8);
  const wanted = [likely, own].find((some) => isRight && some.length > 0) ?? linked;
  // Some say it twice, and not always the same.
  if (deciding < 2 || wanted.length === 0) return;
  const first = random.pick(wanted);
  for (let times = 1; times < deciding; times += 1) {
    assign(shop, { deposit, id, order: random.chance(0.6) ? first : random.pick(wanted) });
  }
};

type Assignment = { deposit: Deposit; id: string; order: Order };

const assign = (shop: Shop, { deposit, id, order }: Assignment): void => {
  const { account, number } = deposit;
  const { world } = shop;
  deposit.wantedFor.add(order);
  ask(shop, {
    what: `assign deposit ${number} to ${order.number}`,
    service: "links-api",
    send: () => ({
      method: "POST",
      path: `/console/api/deposits/${id}/assign`,
      headers: cookieOf(shop, account),
      body: JSON.stringify({ paymentLinkId: order.linkId }),
    }),
    answered: ({ status, text }) => {
      if (status === 404) {
        hold(order.account !== account, () => `deposit ${number} is not found: ${text}`);
        return true;
      }
      if (status === 409) {
        world.count("assignments refused");
        return true;
      }
      if (status !== 200) return isUnanswered(status, text, "an assignment");
      world.count("deposits assigned");
      const before = deposit.assignedTo;
      hold(
        before === undefined || before === order,
        () => `deposit ${number} is given to links ${before?.number} and ${order.number}`,
      );
      deposit.assignedTo = order;
      return true;
    },
  });
};

const dismiss = (shop: Shop, deposit: Deposit, id: string): void => {
  deposit.isDismissalWanted = true;
  ask(shop, {
    what: `dismiss deposit ${deposit.number}`,
    service: "links-api",
    send: () => ({
      method: "POST",
      path: `/console/api/deposits/${id}/dismiss`,
      headers: cookieOf(shop, deposit.account),
    }),
    answered: ({ status, text }) => {
      if (status === 200) deposit.isDismissed = true;
      return status === 200 || status === 409 || isUnanswered(status, text, "a dismissal");
    },
  });
};
