import { Decimal, bitcoinAddresses, bitcoinScript } from "@payment-links/contracts";
import type { Output } from "../block.ts";
import { bitcoin } from "../chain-kinds.ts";
import { type Money, type Order, type Payment, freshMoney } from "../money.ts";
import type { World } from "../world.ts";
import { openPayment } from "./open-payment.ts";
import type { Shop } from "./shop.ts";

const { unitsPerToken } = bitcoin;
/** So many of an account's next addresses are paid early. */
const aheadMax = 3;
const dataScript = "6a0470617973";

/** What pays an order: each link has an address of its own. */
export const outputTo = ({ reference = "" }: Order, units: number): Output => ({
  units,
  script: bitcoinScript("bitcoin", reference),
});

const outputToOther = (): Output => ({
  units: unitsPerToken,
  script: bitcoinScript("bitcoin", bitcoin.otherWallet),
});

type Wanted = readonly { order: Order; units: number }[];

/** What a transaction pays links, and beside it what is no payment. */
const make = (shop: Shop, wanted: Wanted): { outputs: Output[]; money: Payment[] } => {
  const { random } = shop.world;
  // No two are of one amount, so that it tells one from another.
  const parts = wanted.map(({ order, units }, index) => ({ order, units: units + index }));
  const outputs = parts.map(({ order, units }) => outputTo(order, units));
  const [first] = parts;
  if (random.chance(0.3)) outputs.splice(random.below(2), 0, outputToOther());
  if (random.chance(0.2)) outputs.push({ units: 0, script: dataScript });
  if (random.chance(0.2) && first !== undefined) outputs.push(outputTo(first.order, 0));
  const money = parts.map(({ order, units }) => {
    const payment = openPayment(shop, order, { units });
    shop.model.payments.push(payment);
    return payment;
  });
  shop.world.count("payments on chain", money.length);
  return { outputs, money };
};

const drawUnits = ({ random }: World): number => (1 + random.below(12)) * (unitsPerToken / 2);

/** Somebody pays an order, and perhaps others by the same transaction. */
export const payByCoins = (shop: Shop, order: Order): void => {
  const { chain, model, world } = shop;
  const { random } = world;
  const known = model.orders.filter(({ reference }) => reference !== undefined);
  const wanted = [{ order, units: drawUnits(world) }];
  while (random.chance(0.25)) wanted.push({ order: random.pick(known), units: drawUnits(world) });
  const made = make(shop, wanted);
  const { hash } = chain.send("", made);
  for (const one of made.money) one.hash = hash;
  if (wanted.length > 1) world.count("several payments in one transaction");
};

/** A stranger's wallet shows one of a shop's next addresses, and somebody pays it before a link has it. */
export const payAhead = (shop: Shop): void => {
  const { accounts, chain, kind, model, world } = shop;
  const { random } = world;
  const account = random.below(accounts.length);
  const usedCount = model.orders.filter((order) => order.account === account).length;
  const place = { from: usedCount + random.below(aheadMax), count: 1 };
  const [address = ""] = bitcoinAddresses("bitcoin", kind.wallets[account] ?? "", place);
  const units = drawUnits(world) + model.early.length + 1;
  const money: Money = {
    number: 2_000 + model.early.length + 1,
    amount: new Decimal(units).div(unitsPerToken).toFixed(),
    sentAt: world.now(),
    occurredAt: world.now(),
    ...freshMoney,
  };
  const outputs = [{ units, script: bitcoinScript("bitcoin", address) }];
  money.hash = chain.send("", { outputs, money: [money] }).hash;
  model.early.push({ money, address });
  world.say(`early money ${money.number} of ${units} to ${account}`);
  world.count("early money on Bitcoin");
};

/** The same once more for a higher fee, less than that, or all of it to somebody else. */
export const replace = (shop: Shop): void => {
  const { chain, model, world } = shop;
  const { coins } = chain;
  if (coins === undefined) return;
  const waiting = coins.waitingAll(chain.tip()).filter(({ money }) => money.length > 0);
  if (waiting.length === 0) return;
  const first = world.random.pick(waiting);
  const before = model.payments.filter((one) => first.money.includes(one));
  const wanted = world.random.pick([before, before.slice(1), []]).map(({ amount, order }) => ({
    order,
    units: new Decimal(amount).times(unitsPerToken).toNumber(),
  }));
  const made = make(shop, wanted);
  const { hash } = coins.replace(chain.tip(), first, made);
  for (const one of made.money) one.hash = hash;
  world.say(`a replacement of ${before.length} payments by ${wanted.length}`);
  world.count("replacements");
};
