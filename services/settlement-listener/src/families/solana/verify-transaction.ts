import {
  type CatalogueToken,
  Decimal,
  solanaReferenceHash,
  solanaTokenAccount,
  solanaTokenPrograms,
} from "@payment-links/contracts";
import { depositReference } from "../../domain/deposit.ts";
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
type Incoming = {
  /** What came in it, and to whom: one sum of money. */
  sum: string;
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
  const incoming = listIncoming(transaction, tokens);
  const grown = growthOf(transaction.balances);
  const told = new Map<string, bigint>();
  for (const { amount, sum } of incoming) told.set(sum, (told.get(sum) ?? 0n) + amount);
  const counts = new Map<string, number>();
  return incoming.flatMap((one): VerifiedTransfer[] => {
    const { amount, mint, owner, payer, sum } = one;
    const token = tokens.get(mint);
    const arrived = shareOf(amount, { told: told.get(sum) ?? 0n, grown: grown.get(sum) ?? 0n });
    if (token === undefined || arrived === 0n) return [];
    const isDeposit = one.referenceHash === undefined && isOwner(owner) && isUsual(one);
    const name = { tokenAddress: mint, destinationAddress: owner };
    const referenceHash = isDeposit ? depositReference(name) : one.referenceHash;
    if (referenceHash === undefined) return [];
    const ordinal = counts.get(referenceHash) ?? 0;
    counts.set(referenceHash, ordinal + 1);
    return [
      {
        referenceHash,
        ordinal,
        ...name,
        amount: new Decimal(`${arrived}e-${token.decimals}`),
        ...(isDeposit ? { payer } : {}),
      },
    ];
  });
};

/** Only these accounts are asked for: of others a deposit would be found by chance. */
const isUsual = ({ account, mint, owner, program }: Incoming): boolean =>
  account === solanaTokenAccount({ owner, mint, program });

/** What of the growth belongs to one of its transfers: all it says, or its part of what there is. */
const shareOf = (amount: bigint, { told, grown }: { told: bigint; grown: bigint }): bigint => {
  if (grown <= 0n) return 0n;
  return told <= grown ? amount : (amount * grown) / told;
};

const sumOf = ({ mint, owner }: { mint: string; owner: string }): string => `${mint} ${owner}`;

/** By how much the balances of each mint and owner have grown. */
const growthOf = (balances: readonly BalanceChange[]): ReadonlyMap<string, bigint> => {
  const grown = new Map<string, bigint>();
  for (const change of balances) {
    const sum = sumOf(change);
    const by = BigInt(change.after) - BigInt(change.before);
    grown.set(sum, (grown.get(sum) ?? 0n) + by);
  }
  return grown;
};

/** Transfers of the catalogue's tokens to somebody else, in their order. */
const listIncoming = (
  transaction: SolanaTransaction,
  tokens: ReadonlyMap<string, CatalogueToken>,
): readonly Incoming[] => {
  const { balances, instructions, keys, signerCount } = transaction;
  const accounts = new Map(balances.map((balance) => [balance.accountIndex, balance]));
  const moves = instructions.flatMap((instruction) => {
    const program = keys[instruction.programIndex];
    if (!isTokenProgram(program)) return [];
    return decodeTransfers(instruction).map((moved) => ({ moved, program }));
  });
  return moves.flatMap(({ moved, program }): Incoming[] => {
    const source = moved.sourceIndex === undefined ? undefined : accounts.get(moved.sourceIndex);
    const destination = accounts.get(moved.destinationIndex);
    const account = keys[moved.destinationIndex];
    if (destination === undefined || account === undefined) return [];
    if (destination.program !== program) return [];
    const { mint, owner } = destination;
    if (!tokens.has(mint) || source?.owner === owner) return [];
    const reference = moved.restIndexes.find((index) => index >= signerCount);
    const key = reference === undefined ? undefined : keys[reference];
    const referenceHash = key === undefined ? undefined : solanaReferenceHash(key);
    const payer = source?.owner ?? keys[0];
    const whose = { sum: sumOf(destination), mint, owner, account, program, payer };
    return [{ ...whose, amount: moved.amount, referenceHash }];
  });
};

const programs: ReadonlySet<string> = new Set(Object.values(solanaTokenPrograms));
const isTokenProgram = (program: string | undefined): boolean =>
  program !== undefined && programs.has(program);
