import { bitcoin } from "../chain-kinds.ts";
import type { Flaw, ModelTransfer, Order } from "../model-transfer.ts";
import { payOnBitcoin } from "./bitcoin-payers.ts";
import { generateDepositBaseUnits, createDeposit } from "./deposits.ts";
import { payByProvider } from "./notices.ts";
import { createPayment } from "./create-payment.ts";
import type { Shop } from "./shop.ts";
import { createPaymentEffects } from "./transfer-effects.ts";

/** Pays for an order on its chain or, if `byNotice`, through the provider. */
export const payOrder = (shop: Shop, order: Order, { byNotice }: { byNotice: boolean }): void => {
  const { kind, world } = shop;
  if (order.reference !== undefined && (!byNotice || world.random.chance(0.5))) {
    payOnChain(shop, order, order.reference);
  } else if (byNotice && (kind !== bitcoin || order.reference !== undefined)) {
    payByProvider(shop, order);
  }
};

/** Pays on the link's chain: correctly, with a flaw, or with a transaction that only looks like a payment. */
export const payOnChain = (shop: Shop, order: Order, reference: string): void => {
  const { chain, kind, model, world } = shop;
  const { random } = world;
  if (kind === bitcoin) return payOnBitcoin(shop, order);
  const from = random.pick(kind.payers);
  const baseUnits = (1 + random.below(12)) * (kind.baseUnitsPerToken / 2);
  const to = kind.wallets[order.account] ?? "";
  const variant = random.below(12);
  if (variant === 0) return sendDecoys(shop, { from, to, baseUnits, reference });
  const flaws: readonly (Flaw | undefined)[] = [undefined, "wrong_token", "wrong_destination"];
  const flaw = flaws[variant];
  const [token, otherToken] = kind.tokens;
  if (flaw === "wrong_token" && otherToken === undefined) return;
  // The listener queries Solana only for owners' addresses.
  if (flaw === "wrong_destination" && kind.chainType === "SVM") return;
  const payment = createPayment(shop, order, { baseUnits, flaw });
  const { logs, transfers } = createPaymentEffects(kind, {
    from,
    to: flaw === "wrong_destination" ? kind.otherWallet : to,
    token: (flaw === "wrong_token" ? otherToken : token)?.nodeAddress ?? "",
    baseUnits,
    reference,
  });
  const modelTransfers: ModelTransfer[] = [payment];
  if (variant === 3) {
    // The same transaction contains another transfer to the owner that does not name a link.
    const depositDetails = {
      from,
      to,
      token: token.nodeAddress,
      baseUnits: generateDepositBaseUnits(shop),
    };
    const extraDeposit = createDeposit(shop, order.account, depositDetails);
    logs.splice(random.below(3), 0, ...extraDeposit.logs);
    transfers.splice(random.below(2), 0, ...extraDeposit.transfers);
    modelTransfers.push(extraDeposit.deposit);
  }
  const { hash } = chain.send(from, { isSuccessful: true, logs, transfers, modelTransfers });
  for (const transfer of modelTransfers) transfer.hash = hash;
  model.payments.push(payment);
  world.count("payments on chain");
};

type DecoyPayment = { from: string; to: string; baseUnits: number; reference: string };

const sendDecoys = (
  { chain, kind, world }: Shop,
  { from, ...otherDetails }: DecoyPayment,
): void => {
  world.count("decoys on chain");
  const payment = { ...otherDetails, from, token: kind.tokens[0].nodeAddress };
  const paymentEffects = createPaymentEffects(kind, payment);
  if (kind.chainType === "SVM") {
    // A failed transfer, and a transfer to an address that is not an owner's.
    const { transfers } = createPaymentEffects(kind, { ...payment, to: kind.otherWallet });
    chain.send(from, { isSuccessful: false, transfers: paymentEffects.transfers });
    chain.send(from, { isSuccessful: true, transfers });
    return;
  }
  // Only the proxy's event without a transfer, and a payment in a failed transaction.
  chain.send(from, { isSuccessful: true, logs: paymentEffects.logs.slice(1) });
  chain.send(from, { isSuccessful: false, logs: paymentEffects.logs });
};
