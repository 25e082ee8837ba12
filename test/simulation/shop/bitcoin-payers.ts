import { deriveBitcoinAddresses, toBitcoinScriptPubKey } from "@payment-links/chains";
import { Decimal } from "@payment-links/contracts";
import type { Output } from "../block.ts";
import { bitcoin } from "../chain-kinds.ts";
import {
  type ModelTransfer,
  type Order,
  type Payment,
  initialTransferState,
} from "../model-transfer.ts";
import type { SimulatedWorld } from "../simulated-world.ts";
import { createPayment } from "./create-payment.ts";
import type { Shop } from "./shop.ts";

const { baseUnitsPerToken } = bitcoin;
/** The number of an account's next addresses that can be paid early. */
const gapMax = 3;
const dataScript = "6a0470617973";

/** Returns the output that pays an order. Each link has its own address. */
export const createOrderOutput = ({ reference = "" }: Order, baseUnits: number): Output => ({
  baseUnits,
  script: toBitcoinScriptPubKey("bitcoin", reference),
});

const createUnrelatedOutput = (): Output => ({
  baseUnits: baseUnitsPerToken,
  script: toBitcoinScriptPubKey("bitcoin", bitcoin.otherWallet),
});

type PaymentRequests = readonly { order: Order; baseUnits: number }[];

/** Creates a transaction's payments of links and its unrelated outputs. */
const createPayments = (
  shop: Shop,
  paymentRequests: PaymentRequests,
): { outputs: Output[]; modelTransfers: Payment[] } => {
  const { random } = shop.world;
  // Amounts are unique, so an amount identifies a payment within its transaction.
  const distinctRequests = paymentRequests.map(({ order, baseUnits }, index) => ({
    order,
    baseUnits: baseUnits + index,
  }));
  const outputs = distinctRequests.map(({ order, baseUnits }) =>
    createOrderOutput(order, baseUnits),
  );
  const [firstRequest] = distinctRequests;
  if (random.chance(0.3)) outputs.splice(random.below(2), 0, createUnrelatedOutput());
  if (random.chance(0.2)) outputs.push({ baseUnits: 0, script: dataScript });
  if (random.chance(0.2) && firstRequest !== undefined)
    outputs.push(createOrderOutput(firstRequest.order, 0));
  const payments = distinctRequests.map(({ order, baseUnits }) => {
    const payment = createPayment(shop, order, { baseUnits });
    shop.model.payments.push(payment);
    return payment;
  });
  shop.world.count("payments on chain", payments.length);
  return { outputs, modelTransfers: payments };
};

const generateBaseUnits = ({ random }: SimulatedWorld): number =>
  (1 + random.below(12)) * (baseUnitsPerToken / 2);

/** Sends a transaction that pays an order, and possibly others. */
export const payOnBitcoin = (shop: Shop, order: Order): void => {
  const { chain, model, world } = shop;
  const { random } = world;
  const payableOrders = model.orders.filter(({ reference }) => reference !== undefined);
  const paymentRequests = [{ order, baseUnits: generateBaseUnits(world) }];
  while (random.chance(0.25))
    paymentRequests.push({
      order: random.pick(payableOrders),
      baseUnits: generateBaseUnits(world),
    });
  const created = createPayments(shop, paymentRequests);
  const { hash } = chain.send("", created);
  for (const payment of created.modelTransfers) payment.hash = hash;
  if (paymentRequests.length > 1) world.count("several payments in one transaction");
};

/**
 * Pays one of a shop's next addresses before a link has this address. Another wallet has derived
 * the address.
 */
export const payBeforeLink = (shop: Shop): void => {
  const { accounts, chain, kind, model, world } = shop;
  const { random } = world;
  const account = random.below(accounts.length);
  const usedCount = model.orders.filter((order) => order.account === account).length;
  const addressRange = { startIndex: usedCount + random.below(gapMax), count: 1 };
  const [address = ""] = deriveBitcoinAddresses(
    "bitcoin",
    kind.wallets[account] ?? "",
    addressRange,
  );
  const baseUnits = generateBaseUnits(world) + model.earlyTransfers.length + 1;
  const transfer: ModelTransfer = {
    number: 2_000 + model.earlyTransfers.length + 1,
    amount: new Decimal(baseUnits).div(baseUnitsPerToken).toFixed(),
    sentAt: world.now(),
    occurredAt: world.now(),
    ...initialTransferState,
  };
  const outputs = [{ baseUnits, script: toBitcoinScriptPubKey("bitcoin", address) }];
  transfer.hash = chain.send("", { outputs, modelTransfers: [transfer] }).hash;
  model.earlyTransfers.push({ transfer, address });
  world.trace(`early transfer ${transfer.number} of ${baseUnits} to ${account}`);
  world.count("early transfers on Bitcoin");
};

/**
 * Replaces an unconfirmed transaction with one that has a higher fee and the same payments, fewer
 * payments or none.
 */
export const replaceUnconfirmed = (shop: Shop): void => {
  const { chain, model, world } = shop;
  const { bitcoinMempool } = chain;
  if (bitcoinMempool === undefined) return;
  const unconfirmedTransactions = bitcoinMempool
    .listAllUnconfirmed(chain.tip())
    .filter(({ modelTransfers }) => modelTransfers.length > 0);
  if (unconfirmedTransactions.length === 0) return;
  const replacedTransaction = world.random.pick(unconfirmedTransactions);
  const previousPayments = model.payments.filter((payment) =>
    replacedTransaction.modelTransfers.includes(payment),
  );
  const paymentRequests = world.random
    .pick([previousPayments, previousPayments.slice(1), []])
    .map(({ amount, order }) => ({
      order,
      baseUnits: new Decimal(amount).times(baseUnitsPerToken).toNumber(),
    }));
  const created = createPayments(shop, paymentRequests);
  const { hash } = bitcoinMempool.replaceTransaction(chain.tip(), replacedTransaction, created);
  for (const payment of created.modelTransfers) payment.hash = hash;
  world.trace(`a replacement of ${previousPayments.length} payments by ${paymentRequests.length}`);
  world.count("replacements");
};
