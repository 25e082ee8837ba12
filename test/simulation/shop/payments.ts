import { bitcoin } from "../chain-kinds.ts";
import type { Flaw, Money, Order } from "../money.ts";
import { payByCoins } from "./bitcoin-payers.ts";
import { drawUnits, openDeposit } from "./deposits.ts";
import { payByProvider } from "./notices.ts";
import { openPayment } from "./open-payment.ts";
import type { Shop } from "./shop.ts";
import { showPayment } from "./transfers.ts";

/** Somebody pays for an order, on its chain or, where `byNotice`, by the provider. */
export const pay = (shop: Shop, order: Order, { byNotice }: { byNotice: boolean }): void => {
  const { kind, world } = shop;
  if (order.reference !== undefined && (!byNotice || world.random.chance(0.5))) {
    payOnChain(shop, order, order.reference);
  } else if (byNotice && (kind !== bitcoin || order.reference !== undefined)) {
    payByProvider(shop, order);
  }
};

/** Somebody pays on the link's chain: rightly, with a flaw, or in a way that only looks like it. */
export const payOnChain = (shop: Shop, order: Order, reference: string): void => {
  const { chain, kind, model, world } = shop;
  const { random } = world;
  if (kind === bitcoin) return payByCoins(shop, order);
  const from = random.pick(kind.payers);
  const units = (1 + random.below(12)) * (kind.unitsPerToken / 2);
  const to = kind.wallets[order.account] ?? "";
  const trick = random.below(12);
  if (trick === 0) return sendDecoys(shop, { from, to, units, reference });
  const flaws: readonly (Flaw | undefined)[] = [undefined, "wrong_token", "wrong_destination"];
  const flaw = flaws[trick];
  const [token, otherToken] = kind.tokens;
  if (flaw === "wrong_token" && otherToken === undefined) return;
  // Solana is asked for owners alone.
  if (flaw === "wrong_destination" && kind.chainType === "SVM") return;
  const payment = openPayment(shop, order, { units, flaw });
  const { logs, transfers } = showPayment(kind, {
    from,
    to: flaw === "wrong_destination" ? kind.otherWallet : to,
    token: (flaw === "wrong_token" ? otherToken : token)?.hex ?? "",
    units,
    reference,
  });
  const money: Money[] = [payment];
  if (trick === 3) {
    // Beside it the same transaction moves more to the owner, which names no link.
    const given = { from, to, token: token.hex, units: drawUnits(shop) };
    const beside = openDeposit(shop, order.account, given);
    logs.splice(random.below(3), 0, ...beside.logs);
    transfers.splice(random.below(2), 0, ...beside.transfers);
    money.push(beside.deposit);
  }
  const { hash } = chain.send(from, { isSuccessful: true, logs, transfers, money });
  for (const one of money) one.hash = hash;
  model.payments.push(payment);
  world.count("payments on chain");
};

type Decoy = { from: string; to: string; units: number; reference: string };

const sendDecoys = ({ chain, kind, world }: Shop, { from, ...named }: Decoy): void => {
  world.count("decoys on chain");
  const paid = { ...named, from, token: kind.tokens[0].hex };
  const shown = showPayment(kind, paid);
  if (kind.chainType === "SVM") {
    // A transfer that fails, and one to somebody who is no owner.
    const { transfers } = showPayment(kind, { ...paid, to: kind.otherWallet });
    chain.send(from, { isSuccessful: false, transfers: shown.transfers });
    chain.send(from, { isSuccessful: true, transfers });
    return;
  }
  // The proxy's event alone, and a payment in a transaction that fails.
  chain.send(from, { isSuccessful: true, logs: shown.logs.slice(1) });
  chain.send(from, { isSuccessful: false, logs: shown.logs });
};
