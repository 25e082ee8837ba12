import { Decimal, bitcoinScript } from "@payment-links/contracts";
import type { Output } from "./block.ts";
import { bitcoin } from "./chain-kinds.ts";
import type { Chain } from "./chain.ts";
import type { Model } from "./model.ts";
import type { Order, Payment } from "./money.ts";
import type { World } from "./world.ts";

type OpenPayment = (order: Order, units: number) => Payment;

const { unitsPerToken } = bitcoin;
const dataScript = "6a0470617973";

/** Payers of Bitcoin: they pay links' own addresses, several by one transaction, and change their minds. */
export const openBitcoinPayers = (
  { count, random, say }: World,
  { orders, payments }: Pick<Model, "orders" | "payments">,
  { coins, send, tip }: Chain,
  openPayment: OpenPayment,
) => {
  const outputTo = ({ reference = "" }: Order, units: number): Output => ({
    units,
    script: bitcoinScript("bitcoin", reference),
  });
  const outputToOther = (): Output => ({
    units: unitsPerToken,
    script: bitcoinScript("bitcoin", bitcoin.otherWallet),
  });

  /** What a transaction pays links, and beside it what is no payment. */
  const make = (wanted: readonly { order: Order; units: number }[]) => {
    // No two are of one amount, so that it tells one from another.
    const parts = wanted.map(({ order, units }, index) => ({ order, units: units + index }));
    const outputs = parts.map(({ order, units }) => outputTo(order, units));
    const [first] = parts;
    if (random.chance(0.3)) outputs.splice(random.below(2), 0, outputToOther());
    if (random.chance(0.2)) outputs.push({ units: 0, script: dataScript });
    if (random.chance(0.2) && first !== undefined) outputs.push(outputTo(first.order, 0));
    const money = parts.map(({ order, units }) => {
      const payment = openPayment(order, units);
      payments.push(payment);
      return payment;
    });
    count("payments on chain", money.length);
    return { outputs, money };
  };

  const pay = (order: Order): void => {
    const known = orders.filter(({ reference }) => reference !== undefined);
    const wanted = [{ order, units: drawUnits() }];
    while (random.chance(0.25)) wanted.push({ order: random.pick(known), units: drawUnits() });
    const made = make(wanted);
    const { hash } = send("", made);
    for (const one of made.money) one.hash = hash;
    if (wanted.length > 1) count("several payments in one transaction");
  };

  const drawUnits = (): number => (1 + random.below(12)) * (unitsPerToken / 2);

  /** The same once more for a higher fee, less than that, or all of it to somebody else. */
  const replace = (): void => {
    if (coins === undefined) return;
    const waiting = coins.waitingAll(tip()).filter(({ money }) => money.length > 0);
    if (waiting.length === 0) return;
    const first = random.pick(waiting);
    const before = payments.filter((one) => first.money.includes(one));
    const wanted = random.pick([before, before.slice(1), []]).map(({ amount, order }) => ({
      order,
      units: new Decimal(amount).times(unitsPerToken).toNumber(),
    }));
    const made = make(wanted);
    const { hash } = coins.replace(tip(), first, made);
    for (const one of made.money) one.hash = hash;
    say(`a replacement of ${before.length} payments by ${wanted.length}`);
    count("replacements");
  };

  return { pay, replace, outputTo };
};
