import type { Transaction } from "../block.ts";
import { bitcoin } from "../chain-kinds.ts";
import { outputTo } from "./bitcoin-payers.ts";
import { drawUnits, openDeposit } from "./deposits.ts";
import { openPayment } from "./open-payment.ts";
import type { Shop } from "./shop.ts";
import { showPayment } from "./transfers.ts";

/** A transaction that nobody made, which a lying node may tell of. */
export const forge = (shop: Shop): Transaction | undefined =>
  shop.kind !== bitcoin && shop.world.random.chance(0.3) ? forgeDeposit(shop) : forgePayment(shop);

const forgeDeposit = (shop: Shop): Transaction => {
  const { accounts, chain, kind, world } = shop;
  const { forger } = kind;
  const account = world.random.below(accounts.length);
  const { deposit, logs, transfers } = openDeposit(shop, account, {
    from: forger,
    to: kind.wallets[account] ?? "",
    token: kind.tokens[0].hex,
    units: drawUnits(shop),
  });
  const forged = chain.forge(forger, { isSuccessful: true, logs, transfers });
  Object.assign(deposit, { hash: forged.hash, end: "failed", isForged: true });
  return forged;
};

const forgePayment = (shop: Shop): Transaction | undefined => {
  const { chain, kind, model, world } = shop;
  const { forger } = kind;
  const known = model.orders.filter(({ reference }) => reference !== undefined);
  if (known.length === 0) return undefined;
  const order = world.random.pick(known);
  const units = 5 * kind.unitsPerToken;
  const shown = showPayment(kind, {
    from: forger,
    to: kind.wallets[order.account] ?? "",
    token: kind.tokens[0].hex,
    units,
    reference: order.reference ?? "",
  });
  const outputs = kind === bitcoin ? [outputTo(order, units)] : [];
  const forged = chain.forge(forger, { isSuccessful: true, ...shown, outputs });
  const payment = openPayment(shop, order, { units });
  model.payments.push(Object.assign(payment, { hash: forged.hash, end: "failed", isForged: true }));
  return forged;
};
