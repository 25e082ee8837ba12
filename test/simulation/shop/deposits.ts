import { Decimal } from "@payment-links/contracts";
import { bitcoin } from "../chain-kinds.ts";
import type { Deposit } from "../deposit-model.ts";
import { initialTransferState } from "../model-transfer.ts";
import type { Shop } from "./shop.ts";
import {
  type TransferDetails,
  type TransferEffects,
  createTransferEffects,
} from "./transfer-effects.ts";

const dustBaseUnits = 4_000;

/** Returns a unique number of base units. The amount identifies a deposit. */
export const generateDepositBaseUnits = ({ kind, model, world }: Shop): number =>
  (1 + world.random.below(12)) * (kind.baseUnitsPerToken / 2) + model.deposits.all.length + 1;

type DepositDetails = TransferDetails & {
  /**
   * On Solana: a reference key that does not belong to a known link. A transfer with this kind of
   * key is not a deposit.
   */
  reference?: string | undefined;
};

/** Creates a deposit that is not sent yet, and its effects on the chain. */
export const createDeposit = (
  { depositBaseUnitsMin, knownOwnerAddresses, kind, model, world }: Shop,
  account: number,
  details: DepositDetails,
): { deposit: Deposit } & TransferEffects => {
  const { from, reference, to, token, baseUnits } = details;
  const isListedToken = token !== kind.unlistedToken;
  const isFromOtherAddress = from !== kind.toNodeAddress(to);
  const hasReference = reference !== undefined;
  const deposit: Deposit = {
    number: 1_000 + model.deposits.all.length + 1,
    account,
    destinationAddress: to,
    amount: new Decimal(baseUnits).div(kind.baseUnitsPerToken).toFixed(),
    sentAt: world.now(),
    occurredAt: world.now(),
    ...initialTransferState,
    isReportable:
      isListedToken &&
      isFromOtherAddress &&
      !hasReference &&
      baseUnits >= (depositBaseUnitsMin ?? Infinity),
    isLinkToken: token === kind.tokens[0].nodeAddress,
    isOwnerKnown: knownOwnerAddresses.has(to),
    requestedOrders: new Set(),
    isDismissalRequested: false,
    isDismissed: false,
    assignedTo: undefined,
    order: undefined,
    flaw: undefined,
  };
  model.deposits.all.push(deposit);
  world.trace(`deposit ${deposit.number} of ${baseUnits} to ${account}`);
  world.count(
    deposit.isReportable ? `deposits on ${kind.chainType}` : "transfers that are not deposits",
  );
  return { deposit, ...createTransferEffects(kind, details) };
};

/** Sends a token to an owner's address without naming a link. */
export const sendDeposit = (shop: Shop): void => {
  const { accounts, chain, kind, model, world } = shop;
  const { random } = world;
  if (kind === bitcoin) return;
  const [token, otherToken] = kind.tokens;
  const orderAccounts = model.orders.map((order) => order.account);
  const isRandomAccount = orderAccounts.length === 0 || random.chance(0.2);
  const account = isRandomAccount ? random.below(accounts.length) : random.pick(orderAccounts);
  const to = kind.wallets[account] ?? "";
  const from = random.chance(0.1) ? kind.toNodeAddress(to) : random.pick(kind.payers);
  const { unlistedToken } = kind;
  const wrongToken = otherToken?.nodeAddress ?? unlistedToken;
  const address = random.pick([
    ...Array<string>(4).fill(token.nodeAddress),
    wrongToken,
    unlistedToken,
  ]);
  const baseUnits = random.chance(0.15)
    ? dustBaseUnits + model.deposits.all.length
    : generateDepositBaseUnits(shop);
  const reference = kind.chainType === "SVM" && random.chance(0.2) ? kind.otherWallet : undefined;
  const createdDeposit = createDeposit(shop, account, {
    from,
    to,
    token: address,
    baseUnits,
    reference,
  });
  const { deposit, logs, transfers } = createdDeposit;
  const transaction = chain.send(from, {
    isSuccessful: true,
    logs,
    transfers,
    modelTransfers: [deposit],
  });
  deposit.hash = transaction.hash;
};
