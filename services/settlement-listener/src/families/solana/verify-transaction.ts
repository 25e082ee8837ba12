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

/** What a token account held before and after a transaction, in base units. */
export type BalanceChange = {
  accountIndex: number;
  mint: string;
  owner: string;
  program: string;
  before: string;
  after: string;
};

/** What became of a transaction, as a node tells it. */
export type SolanaTransaction = {
  signature: string;
  slot: number;
  /** Its block's Unix seconds. */
  timestampSeconds: number;
  isSuccessful: boolean;
  /** All its keys: its own, and those of look-up tables behind them. Who pays its fee is the first. */
  keys: readonly [string, ...string[]];
  /** So many of the first keys have signed. */
  signerCount: number;
  /** In the order in which they ran. */
  instructions: readonly SolanaInstruction[];
  balances: readonly BalanceChange[];
};

/** A transfer of a token into an owner's account, or tokens that are made there. */
type IncomingTransfer = {
  /** What came in it, and to whom: one sum of money. */
  sumKey: string;
  mint: string;
  owner: string;
  amount: bigint;
  /** Undefined where it names none. */
  referenceHash: string | undefined;
  /** Its token account, which may be another than the owner's usual one. */
  account: string;
  program: string;
  /** Whose account it left, as the wallet of the payer shows; who paid the fee where none tells. */
  payer: string;
};

/** Whether an owner is paid at an address. */
export type IsOwner = (address: string) => boolean;

/**
 * The payments that a transaction proves, and the deposits. A reference belongs to the transfer that
 * names it: the first of its keys that is none of the transfer's own and has not signed. What counts is by
 * how much the balances of the owner have grown: where that is less than its transfers say, as tokens may
 * take a fee, they share it. So the sum of a mint and an owner is used once, whatever a transaction names.
 * A transfer without any such key, or what a mint makes, is a deposit where it comes into the usual token
 * account of an owner; one with a key is none, whatever that key is, as it may be the reference of a link
 * that is heard of later.
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

/** Only these accounts are asked for: of others a deposit would be found by chance. */
const isAssociatedTokenAccount = ({ account, mint, owner, program }: IncomingTransfer): boolean =>
  account === deriveAssociatedTokenAccount({ owner, mint, program });

/** What of the growth belongs to one of its transfers: all it says, or its part of what there is. */
const computeShare = (
  amount: bigint,
  { claimed, growth }: { claimed: bigint; growth: bigint },
): bigint => {
  if (growth <= 0n) return 0n;
  return claimed <= growth ? amount : (amount * growth) / claimed;
};

const toSumKey = ({ mint, owner }: { mint: string; owner: string }): string => `${mint} ${owner}`;

/** By how much the balances of each mint and owner have grown. */
const computeGrowth = (balances: readonly BalanceChange[]): ReadonlyMap<string, bigint> => {
  const growthBySum = new Map<string, bigint>();
  for (const balance of balances) {
    const sumKey = toSumKey(balance);
    const growth = BigInt(balance.after) - BigInt(balance.before);
    growthBySum.set(sumKey, (growthBySum.get(sumKey) ?? 0n) + growth);
  }
  return growthBySum;
};

/** Transfers of the catalogue's tokens to somebody else, in their order. */
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
