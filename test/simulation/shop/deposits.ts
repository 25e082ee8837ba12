import { Decimal } from "@payment-links/contracts";
import { bitcoin } from "../chain-kinds.ts";
import type { Deposit } from "../deposit-model.ts";
import { freshMoney } from "../money.ts";
import type { Shop } from "./shop.ts";
import { type Moved, type Shown, showTransfer } from "./transfers.ts";

const dustUnits = 4_000;

/** Units of which no two are alike, so that an amount tells one deposit from another. */
export const drawUnits = ({ kind, model, world }: Shop): number =>
  (1 + world.random.below(12)) * (kind.unitsPerToken / 2) + model.deposits.all.length + 1;

type Given = Moved & {
  /** On Solana: a key that is no link's, as of a link that nobody has heard of; such a transfer is no deposit. */
  reference?: string | undefined;
};

/** A deposit that is about to be made, and how its chain will show it. */
export const openDeposit = (
  { depositUnitsMin, heardOwners, kind, model, world }: Shop,
  account: number,
  given: Given,
): { deposit: Deposit } & Shown => {
  const { from, reference, to, token, units } = given;
  const isOfCatalogue = token !== kind.unlistedToken;
  const isFromOther = from !== kind.hexOf(to);
  const isNamed = reference !== undefined;
  const deposit: Deposit = {
    number: 1_000 + model.deposits.all.length + 1,
    account,
    destinationAddress: to,
    amount: new Decimal(units).div(kind.unitsPerToken).toFixed(),
    sentAt: world.now(),
    occurredAt: world.now(),
    ...freshMoney,
    isShown: isOfCatalogue && isFromOther && !isNamed && units >= (depositUnitsMin ?? Infinity),
    isOfLinks: token === kind.tokens[0].hex,
    isOwnerHeard: heardOwners.has(to),
    wantedFor: new Set(),
    isDismissalWanted: false,
    isDismissed: false,
    assignedTo: undefined,
    order: undefined,
    flaw: undefined,
  };
  model.deposits.all.push(deposit);
  world.say(`deposit ${deposit.number} of ${units} to ${account}`);
  world.count(deposit.isShown ? `deposits on ${kind.chainType}` : "transfers that are no deposits");
  return { deposit, ...showTransfer(kind, given) };
};

/** Somebody sends a token to an owner's address, and says nothing. */
export const sendDeposit = (shop: Shop): void => {
  const { accounts, chain, kind, model, world } = shop;
  const { random } = world;
  if (kind === bitcoin) return;
  const [token, otherToken] = kind.tokens;
  const ordered = model.orders.map((order) => order.account);
  const isStray = ordered.length === 0 || random.chance(0.2);
  const account = isStray ? random.below(accounts.length) : random.pick(ordered);
  const to = kind.wallets[account] ?? "";
  const from = random.chance(0.1) ? kind.hexOf(to) : random.pick(kind.payers);
  const { unlistedToken } = kind;
  const wrongToken = otherToken?.hex ?? unlistedToken;
  const address = random.pick([...Array<string>(4).fill(token.hex), wrongToken, unlistedToken]);
  const units = random.chance(0.15) ? dustUnits + model.deposits.all.length : drawUnits(shop);
  const reference = kind.chainType === "SVM" && random.chance(0.2) ? kind.otherWallet : undefined;
  const opened = openDeposit(shop, account, { from, to, token: address, units, reference });
  const { deposit, logs, transfers } = opened;
  const sent = chain.send(from, { isSuccessful: true, logs, transfers, money: [deposit] });
  deposit.hash = sent.hash;
};
