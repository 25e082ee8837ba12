import { Decimal } from "@payment-links/contracts";
import type { Transaction } from "../block.ts";
import { bitcoin } from "../chain-kinds.ts";
import type { Payment } from "../money.ts";
import { outputTo } from "./bitcoin-payers.ts";
import { openPayment } from "./open-payment.ts";
import type { Shop } from "./shop.ts";
import { showPayment } from "./transfers.ts";

/**
 * A lying node shows payments that do not count yet as others than they are: each pays another link, or another
 * amount. By the hashes of the transactions that it shows so; those that came since are added.
 */
export const alterOpen = (shop: Shop, altered: Map<string, Transaction>): void => {
  const { chain, model } = shop;
  for (const transaction of chain.sent()) {
    if (altered.has(transaction.hash)) continue;
    const [money, ...others] = transaction.money;
    // What else a transaction pays would have to be shown as well.
    const payment = others.length === 0 ? model.payments.find((one) => one === money) : undefined;
    if (payment === undefined || model.deposits.all.some((one) => one === money)) continue;
    const { end, flaw, isEndTold } = payment;
    if (isEndTold || end === "failed" || flaw !== undefined) continue;
    altered.set(transaction.hash, alterOne(shop, transaction, payment));
  }
};

const alterOne = (shop: Shop, transaction: Transaction, payment: Payment): Transaction => {
  const { kind, model, world } = shop;
  const { random } = world;
  const others = model.orders.filter(
    ({ reference }) => reference !== undefined && reference !== payment.order.reference,
  );
  const isElsewhere = others.length > 0 && random.chance(0.5);
  const order = isElsewhere ? random.pick(others) : payment.order;
  const paidUnits = new Decimal(payment.amount).times(kind.unitsPerToken).toNumber();
  const units = isElsewhere ? paidUnits : paidUnits * random.pick([1, 5]) + model.payments.length;
  world.count(
    isElsewhere ? "payments shown on another link" : "payments shown with another amount",
  );
  const spent = { inputs: transaction.inputs, outputs: transaction.outputs.slice() };
  if (kind === bitcoin) {
    const { script } = outputTo(payment.order, paidUnits);
    const at = spent.outputs.findIndex((one) => one.script === script && one.units === paidUnits);
    spent.outputs.splice(at, 1, outputTo(order, units));
  }
  const shown = {
    ...transaction,
    ...spent,
    ...showPayment(kind, {
      from: transaction.from,
      to: kind.wallets[order.account] ?? "",
      token: kind.tokens[0].hex,
      units,
      reference: order.reference ?? "",
    }),
    money: [],
  };
  // On Bitcoin its id is made of what it pays.
  const hash = kind.nameTransaction(shown);
  model.payments.push({
    ...openPayment(shop, order, { units }),
    hash,
    end: "failed",
    isForged: hash !== transaction.hash,
  });
  return { ...shown, hash };
};
