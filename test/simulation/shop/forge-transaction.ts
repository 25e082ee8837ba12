import type { Transaction } from "../block.ts";
import { bitcoin } from "../chain-kinds.ts";
import { createOrderOutput } from "./bitcoin-payers.ts";
import { generateDepositBaseUnits, createDeposit } from "./deposits.ts";
import { createPayment } from "./create-payment.ts";
import type { Shop } from "./shop.ts";
import { createPaymentEffects } from "./transfer-effects.ts";

/** Creates a transaction that was never sent, for a misreporting node. */
export const forgeTransaction = (shop: Shop): Transaction | undefined =>
  shop.kind !== bitcoin && shop.world.random.chance(0.3) ? forgeDeposit(shop) : forgePayment(shop);

const forgeDeposit = (shop: Shop): Transaction => {
  const { accounts, chain, kind, world } = shop;
  const { forger } = kind;
  const account = world.random.below(accounts.length);
  const { deposit, logs, transfers } = createDeposit(shop, account, {
    from: forger,
    to: kind.wallets[account] ?? "",
    token: kind.tokens[0].nodeAddress,
    baseUnits: generateDepositBaseUnits(shop),
  });
  const forgedTransaction = chain.forgeTransaction(forger, { isSuccessful: true, logs, transfers });
  Object.assign(deposit, { hash: forgedTransaction.hash, finalStatus: "failed", isForged: true });
  return forgedTransaction;
};

const forgePayment = (shop: Shop): Transaction | undefined => {
  const { chain, kind, model, world } = shop;
  const { forger } = kind;
  const payableOrders = model.orders.filter(({ reference }) => reference !== undefined);
  if (payableOrders.length === 0) return undefined;
  const order = world.random.pick(payableOrders);
  const baseUnits = 5 * kind.baseUnitsPerToken;
  const paymentEffects = createPaymentEffects(kind, {
    from: forger,
    to: kind.wallets[order.account] ?? "",
    token: kind.tokens[0].nodeAddress,
    baseUnits,
    reference: order.reference ?? "",
  });
  const outputs = kind === bitcoin ? [createOrderOutput(order, baseUnits)] : [];
  const forgedTransaction = chain.forgeTransaction(forger, {
    isSuccessful: true,
    ...paymentEffects,
    outputs,
  });
  const payment = createPayment(shop, order, { baseUnits });
  model.payments.push(
    Object.assign(payment, { hash: forgedTransaction.hash, finalStatus: "failed", isForged: true }),
  );
  return forgedTransaction;
};
