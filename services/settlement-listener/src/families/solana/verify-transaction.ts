import {
  type CatalogueToken,
  Decimal,
  toSolanaReferenceHash,
  deriveAssociatedTokenAccount,
  solanaTokenPrograms,
} from "@payment-links/contracts";
import { deriveDepositReference } from "../../domain/deposit.ts";
import type { VerifiedTransfer } from "../../watch/chain-reader.ts";
import { type SolanaInstruction, decodeTransfers } from "./decode-transfers.ts";

/** A token account's balance before and after a transaction, in base units. */
export type BalanceChange = {
  accountIndex: number;
  mint: string;
  owner: string;
  program: string;
  before: string;
  after: string;
};

/** A transaction and its result, as a node returns it. */
export type SolanaTransaction = {
  signature: string;
  slot: number;
  /** The block's time in Unix seconds. */
  timestampSeconds: number;
  isSuccessful: boolean;
  /** All keys: its own, followed by those of lookup tables. The first one pays the fee. */
  keys: readonly [string, ...string[]];
  /** The number of leading keys that have signed. */
  signerCount: number;
  /** In execution order. */
  instructions: readonly SolanaInstruction[];
  balances: readonly BalanceChange[];
};

/** A token transfer into an owner's account, or a mint there. */
type IncomingTransfer = {
  /** The mint and the owner, whose balance growth is shared by all transfers with this key. */
  sumKey: string;
  mint: string;
  owner: string;
  amount: bigint;
  /** Undefined if the transfer has no reference. */
  referenceHash: string | undefined;
  /** The destination token account, which may differ from the owner's associated token account. */
  account: string;
  program: string;
  /**
   * The owner of the source account, as the payer's wallet shows it. The fee payer if that is
   * unknown.
   */
  payer: string;
};

/** Returns whether an address belongs to an owner. */
export type IsOwner = (address: string) => boolean;

/**
 * Returns the payments and deposits that a transaction proves:
 * - A reference belongs to the transfer that has it: the first key after those that the transfer
 *   needs that has not signed.
 * - The amount is limited by the growth of the owner's balances. If that is less than the
 *   transfers' sum, because tokens may take a fee, the transfers share it. So the sum of a mint and
 *   an owner is used once, whatever references a transaction has.
 * - A transfer without such a key, or a mint, is a deposit if it goes into an owner's associated
 *   token account.
 * - A transfer with such a key is never a deposit, because the key may be the reference of a link
 *   that is received later.
 */
export const verifyTransaction = (
  transaction: SolanaTransaction,
  tokens: ReadonlyMap<string, CatalogueToken>,
  isOwner: IsOwner = () => false,
): readonly VerifiedTransfer[] => {
  if (!transaction.isSuccessful) return [];
  const incomingTransfers = listIncoming(transaction, tokens);
  const growthBySum = computeGrowth(transaction.balances);
  const claimedBySum = new Map<string, bigint>();
  for (const { amount, sumKey } of incomingTransfers)
    claimedBySum.set(sumKey, (claimedBySum.get(sumKey) ?? 0n) + amount);
  const counts = new Map<string, number>();
  return incomingTransfers.flatMap((transfer): VerifiedTransfer[] => {
    const { amount, mint, owner, payer, sumKey } = transfer;
    const token = tokens.get(mint);
    const receivedAmount = computeShare(amount, {
      claimed: claimedBySum.get(sumKey) ?? 0n,
      growth: growthBySum.get(sumKey) ?? 0n,
    });
    if (token === undefined || receivedAmount === 0n) return [];
    const isDeposit =
      transfer.referenceHash === undefined && isOwner(owner) && isAssociatedTokenAccount(transfer);
    const target = { tokenAddress: mint, destinationAddress: owner };
    const referenceHash = isDeposit ? deriveDepositReference(target) : transfer.referenceHash;
    if (referenceHash === undefined) return [];
    const ordinal = counts.get(referenceHash) ?? 0;
    counts.set(referenceHash, ordinal + 1);
    return [
      {
        referenceHash,
        ordinal,
        ...target,
        amount: new Decimal(`${receivedAmount}e-${token.decimals}`),
        ...(isDeposit ? { payer } : {}),
      },
    ];
  });
};

/** Only these accounts are read. Deposits into others would be found by chance. */
const isAssociatedTokenAccount = ({ account, mint, owner, program }: IncomingTransfer): boolean =>
  account === deriveAssociatedTokenAccount({ owner, mint, program });

/**
 * Returns a transfer's share of the growth: its full amount, or its proportional part if the growth
 * is less than the sum.
 */
const computeShare = (
  amount: bigint,
  { claimed, growth }: { claimed: bigint; growth: bigint },
): bigint => {
  if (growth <= 0n) return 0n;
  return claimed <= growth ? amount : (amount * growth) / claimed;
};

const toSumKey = ({ mint, owner }: { mint: string; owner: string }): string => `${mint} ${owner}`;

/** Returns the growth of the balances by mint and owner. */
const computeGrowth = (balances: readonly BalanceChange[]): ReadonlyMap<string, bigint> => {
  const growthBySum = new Map<string, bigint>();
  for (const balance of balances) {
    const sumKey = toSumKey(balance);
    const growth = BigInt(balance.after) - BigInt(balance.before);
    growthBySum.set(sumKey, (growthBySum.get(sumKey) ?? 0n) + growth);
  }
  return growthBySum;
};

/**
 * Returns the transfers and mints of catalogue tokens, in order, except between accounts of one
 * owner.
 */
const listIncoming = (
  transaction: SolanaTransaction,
  tokens: ReadonlyMap<string, CatalogueToken>,
): readonly IncomingTransfer[] => {
  const { balances, instructions, keys, signerCount } = transaction;
  const accounts = new Map(balances.map((balance) => [balance.accountIndex, balance]));
  const movements = instructions.flatMap((instruction) => {
    const program = keys[instruction.programIndex];
    if (!isTokenProgram(program)) return [];
    return decodeTransfers(instruction).map((movement) => ({ movement, program }));
  });
  return movements.flatMap(({ movement, program }): IncomingTransfer[] => {
    const source =
      movement.sourceIndex === undefined ? undefined : accounts.get(movement.sourceIndex);
    const destination = accounts.get(movement.destinationIndex);
    const account = keys[movement.destinationIndex];
    if (destination === undefined || account === undefined) return [];
    if (destination.program !== program) return [];
    const { mint, owner } = destination;
    if (!tokens.has(mint) || source?.owner === owner) return [];
    const referenceIndex = movement.extraAccountIndexes.find((index) => index >= signerCount);
    const key = referenceIndex === undefined ? undefined : keys[referenceIndex];
    const referenceHash = key === undefined ? undefined : toSolanaReferenceHash(key);
    const payer = source?.owner ?? keys[0];
    const parties = { sumKey: toSumKey(destination), mint, owner, account, program, payer };
    return [{ ...parties, amount: movement.amount, referenceHash }];
  });
};

const tokenPrograms: ReadonlySet<string> = new Set(Object.values(solanaTokenPrograms));
const isTokenProgram = (program: string | undefined): boolean =>
  program !== undefined && tokenPrograms.has(program);
