import { createHash } from "node:crypto";
import { Transaction, p2tr, utils } from "@scure/btc-signer";
import * as z from "zod";
import type { Btcd } from "./start-btcd.ts";

/** The regtest network. Its addresses start with `bcrt1`. */
export const regtest = { bech32: "bcrt", pubKeyHash: 0x6f, scriptHash: 0xc4, wif: 0xef } as const;

const key = new Uint8Array(createHash("sha256").update("local bitcoin: payer").digest());
const tapInternalKey = utils.pubSchnorr(key);
const walletScript = p2tr(tapInternalKey, undefined, regtest);
/** The address that holds the test wallet's coins. It is the same in every run. */
export const walletAddress = walletScript.address ?? "";

/** The sequence number that allows the payer to replace the transaction (BIP 125). */
const replaceableSequence = 0xff_ff_ff_fd;
const finalSequence = 0xff_ff_ff_fe;

/** Upper bounds for the size in bytes of an output, an input, and the rest of a transaction. */
const bytesPerOutput = 43;
const bytesPerInput = 69;
const overheadBytes = 12;
/** The dust limit: change below this amount would cost more to spend than it is worth. */
const dustLimit = 1_000n;

export type Coin = { txid: string; index: number; amount: bigint };
/** An address and the amount to pay, in satoshis. */
export type Payee = { to: string; amount: bigint };

/** A signed transaction, the coins that it spends, and the coin with its change. */
export type SignedPayment = {
  txid: string;
  hex: string;
  spent: readonly Coin[];
  change: Coin | undefined;
};

/** Signs a payment that spends the given coins. The remaining amount is change. */
export const signPayment = ({
  coins,
  payees,
  feeRate,
  isReplaceable = true,
}: {
  coins: readonly Coin[];
  payees: readonly Payee[];
  /** In satoshis per byte. */
  feeRate: number;
  isReplaceable?: boolean;
}): SignedPayment => {
  const transaction = new Transaction();
  for (const { txid, index, amount } of coins) {
    const witnessUtxo = { script: walletScript.script, amount };
    const sequence = isReplaceable ? replaceableSequence : finalSequence;
    transaction.addInput({ txid, index, witnessUtxo, tapInternalKey, sequence });
  }
  for (const { to, amount } of payees) transaction.addOutputAddress(to, amount, regtest);
  const bytes = overheadBytes + bytesPerInput * coins.length + bytesPerOutput * (payees.length + 1);
  const changeAmount = sum(coins) - sum(payees) - BigInt(Math.ceil(bytes * feeRate));
  if (changeAmount < 0n) throw new Error("the coins are not sufficient");
  const hasChange = changeAmount >= dustLimit;
  if (hasChange) transaction.addOutputAddress(walletAddress, changeAmount, regtest);
  transaction.sign(key);
  transaction.finalize();
  const { id: txid, hex } = transaction;
  const change = hasChange ? { txid, index: payees.length, amount: changeAmount } : undefined;
  return { txid, hex, spent: coins, change };
};

const sum = (amounts: readonly { amount: bigint }[]): bigint =>
  amounts.reduce((total, { amount }) => total + amount, 0n);

const satoshisPerCoin = 100_000_000;

/** Converts an amount that a node reported to satoshis. */
const toSatoshis = (value: number): bigint => BigInt(Math.round(value * satoshisPerCoin));

const transactionsMax = 10_000;
const AddressTransactions = z.array(
  z.object({
    txid: z.string(),
    confirmations: z.number().optional(),
    vin: z.array(z.object({ txid: z.string().optional(), vout: z.number().optional() })),
    vout: z.array(
      z.object({
        value: z.number(),
        n: z.number(),
        scriptPubKey: z.object({ address: z.string().optional() }),
      }),
    ),
  }),
);

const coinbaseMaturity = 100;

/** Returns the test wallet's spendable coins, oldest first, from the node's address index. */
export const findCoins = async (node: Btcd): Promise<Coin[]> => {
  const result = await node.callRpc("searchrawtransactions", walletAddress, 1, 0, transactionsMax);
  const transactions = AddressTransactions.parse(result);
  const spent = new Set(
    transactions.flatMap(({ vin }) => vin.map(({ txid, vout }) => `${txid}:${vout}`)),
  );
  return transactions
    .filter(
      ({ vin, confirmations = 0 }) =>
        vin[0]?.txid !== undefined || confirmations > coinbaseMaturity,
    )
    .flatMap(({ txid, vout }) =>
      vout
        .filter(({ scriptPubKey }) => scriptPubKey.address === walletAddress)
        .map(({ n, value }) => ({ txid, index: n, amount: toSatoshis(value) })),
    )
    .filter(({ txid, index }) => !spent.has(`${txid}:${index}`));
};
