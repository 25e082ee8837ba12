import { Decimal } from "@payment-links/contracts";
import type { Transaction } from "../block.ts";
import { bitcoin } from "../chain-kinds.ts";
import type { Payment } from "../model-transfer.ts";
import { createOrderOutput } from "./bitcoin-payers.ts";
import { createPayment } from "./create-payment.ts";
import type { Shop } from "./shop.ts";
import { createPaymentEffects } from "./transfer-effects.ts";

/**
 * Adds altered versions of unsettled payments for a misreporting node, keyed by transaction hash.
 * Each of them pays another link or another amount. Includes payments that were sent since the last
 * call.
 */
export const alterUnsettledPayments = (
  shop: Shop,
  alteredTransactions: Map<string, Transaction>,
): void => {
  const { chain, model } = shop;
  for (const transaction of chain.sentTransactions()) {
    if (alteredTransactions.has(transaction.hash)) continue;
    const [firstTransfer, ...otherTransfers] = transaction.modelTransfers;
    // If a transaction contains other transfers, they would also have to be altered.
    const payment =
      otherTransfers.length === 0
        ? model.payments.find((candidate) => candidate === firstTransfer)
        : undefined;
    if (payment === undefined || model.deposits.all.some((deposit) => deposit === firstTransfer))
      continue;
    const { finalStatus, flaw, isFinal } = payment;
    if (isFinal || finalStatus === "failed" || flaw !== undefined) continue;
    alteredTransactions.set(transaction.hash, alterPayment(shop, transaction, payment));
  }
};

const alterPayment = (shop: Shop, transaction: Transaction, payment: Payment): Transaction => {
  const { kind, model, world } = shop;
  const { random } = world;
  const otherOrders = model.orders.filter(
    ({ reference }) => reference !== undefined && reference !== payment.order.reference,
  );
  const paysOtherLink = otherOrders.length > 0 && random.chance(0.5);
  const order = paysOtherLink ? random.pick(otherOrders) : payment.order;
  const paidBaseUnits = new Decimal(payment.amount).times(kind.baseUnitsPerToken).toNumber();
  const baseUnits = paysOtherLink
    ? paidBaseUnits
    : paidBaseUnits * random.pick([1, 5]) + model.payments.length;
  world.count(
    paysOtherLink ? "payments reported for another link" : "payments reported with another amount",
  );
  const transactionBody = { inputs: transaction.inputs, outputs: transaction.outputs.slice() };
  if (kind === bitcoin) {
    const { script } = createOrderOutput(payment.order, paidBaseUnits);
    const outputIndex = transactionBody.outputs.findIndex(
      (output) => output.script === script && output.baseUnits === paidBaseUnits,
    );
    transactionBody.outputs.splice(outputIndex, 1, createOrderOutput(order, baseUnits));
  }
  const alteredTransaction = {
    ...transaction,
    ...transactionBody,
    ...createPaymentEffects(kind, {
      from: transaction.from,
      to: kind.wallets[order.account] ?? "",
      token: kind.tokens[0].nodeAddress,
      baseUnits,
      reference: order.reference ?? "",
    }),
    modelTransfers: [],
  };
  // On Bitcoin, the transaction ID depends on the outputs.
  const hash = kind.hashTransaction(alteredTransaction);
  model.payments.push({
    ...createPayment(shop, order, { baseUnits }),
    hash,
    finalStatus: "failed",
    isForged: hash !== transaction.hash,
  });
  return { ...alteredTransaction, hash };
};
