import { toSolanaReferenceHash } from "../payment-reference.ts";
import { deriveAssociatedTokenAccount, solanaTokenPrograms } from "../token-account.ts";
import { type CatalogueToken, Decimal } from "@payment-links/contracts";
import { deriveDepositReference } from "../../reads/deposit-reference.ts";
import type { VerifiedTransfer } from "../../reads/chain-reader.ts";
import { type SolanaInstruction, decodeTransfers } from "./decode-transfers.ts";

/** The balance of a token account before and after a transaction, in base units. */
export type BalanceChange = {
  accountIndex: number;
  mint: string;
  owner: string;
  program: string;
  before: string;
  after: string;
};

/** A transaction with its result, as a node returns it. */
export type SolanaTransaction = {
  signature: string;
  slot: number;
  /** The block's time in Unix seconds. */
  timestampSeconds: number;
  isSuccessful: boolean;
  /**
   * All keys: the transaction's own, followed by those of lookup tables. The first key pays the
   * fee.
   */
  keys: readonly [string, ...string[]];
  /** The number of keys that have signed. These come first. */
  signerCount: number;
  /** In execution order. */
  instructions: readonly SolanaInstruction[];
  balances: readonly BalanceChange[];
};

/** A transfer into, or a mint to, a token account of an owner. */
type IncomingTransfer = {
  /**
   * Identifies the mint and the owner. All transfers with the same key share one increase of the
   * owner's balance.
   */
  sumKey: string;
  mint: string;
  owner: string;
  amount: bigint;
  /** Undefined if the transfer has no reference. */
  referenceHash: string | undefined;
  /** The destination token account. It can differ from the owner's associated token account. */
  account: string;
  program: string;
  /**
   * The owner of the source account, which is the address that the payer sees in a wallet. If that
   * is unknown, the fee payer.
   */
  payer: string;
};

/** Returns whether an address belongs to an owner. */
export type IsOwner = (address: string) => boolean;

/**
 * Returns the payments and deposits that a transaction proves.
 * - A transfer's reference is the first extra key, after those that the transfer itself uses, that
 *   has not signed. It applies only to this transfer.
 * - The owner's balance increase limits the amount. Tokens may withhold a fee. If the increase is
 *   less than the sum of the transfers of a mint to an owner, they share it. It is used only once,
 *   no matter how many references a transaction has.
 * - A transfer without such a key, or a mint, is a deposit if it goes to an owner's associated
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
        payer,
        ...(isDeposit ? { isDeposit } : {}),
      },
    ];
  });
};

/**
 * Only associated token accounts are read, so deposits into other accounts would be found only by
 * chance.
 */
const isAssociatedTokenAccount = ({ account, mint, owner, program }: IncomingTransfer): boolean =>
  account === deriveAssociatedTokenAccount({ owner, mint, program });

/**
 * Returns a transfer's share of the balance increase. This is the full amount, or a proportional
 * part if the increase is less than the sum of the transfers.
 */
const computeShare = (
  amount: bigint,
  { claimed, growth }: { claimed: bigint; growth: bigint },
): bigint => {
  if (growth <= 0n) return 0n;
  return claimed <= growth ? amount : (amount * growth) / claimed;
};

const toSumKey = ({ mint, owner }: { mint: string; owner: string }): string => `${mint} ${owner}`;

/** Returns the balance increases by mint and owner. */
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
 * Returns the transfers and mints of catalogue tokens in order. Leaves out transfers between
 * accounts of the same owner.
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
