import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import type { CatalogueData } from "@payment-links/contracts";
import { type Log, createLog } from "@payment-links/runtime";
import {
  type Coin,
  type Payee,
  type SignedPayment,
  findCoins,
  walletAddress,
  signPayment,
} from "./wallet.ts";
import { openBlockJournal } from "./block-journal.ts";
import { type Btcd, startBtcd } from "./start-btcd.ts";

/** The block height at which the first coins can be spent. */
const firstHeight = 105;
const initialCoinCount = 60;
const coinAmount = 50_000_000n;
const defaultFeeRate = 2;

type Fee = {
  /** In satoshis per byte. */
  feeRate?: number;
  /** Whether the payer can replace it with another transaction. Most wallets allow that. */
  isReplaceable?: boolean;
};

export type LocalBitcoinChain = Awaited<ReturnType<typeof startBitcoinChain>>;

/**
 * Starts a local Bitcoin chain: btcd's regtest chain with a funded wallet. Blocks are mined only on
 * request. With a `journalFile`, the chain continues with the blocks stored there.
 */
export const startBitcoinChain = async ({
  program,
  journalFile,
  port,
  log = createLog({ service: "chain", level: "fatal" }),
}: {
  program: string;
  journalFile?: string;
  port?: number;
  log?: Log;
}) => {
  const folder = await mkdtemp(join(tmpdir(), "bitcoin-"));
  const node = await startBtcd({
    program,
    directory: folder,
    minerAddress: walletAddress,
    log,
    ...(port === undefined ? {} : { port }),
  }).catch(async (error: unknown) => {
    await rm(folder, { recursive: true, force: true });
    throw error;
  });
  const wallet: Wallet = { coins: [], payments: new Map() };
  let record = async (): Promise<void> => undefined;
  const close = async (): Promise<void> => {
    await node.close();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    if (journalFile !== undefined) ({ record } = await openBlockJournal(node, journalFile));
    await fundWallet(node, wallet);
    await record();
  } catch (error) {
    await close();
    throw error;
  }
  /** Wraps an action that changes the chain, so the new blocks are recorded after it. */
  const recordAfter =
    <Args extends unknown[], Result>(action: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      const result = await action(...args);
      await record();
      return result;
    };
  return {
    url: node.url,
    chainId,
    /** The data of the chain and its coin for the catalogue. */
    catalogueData: createCatalogueData(HashResult.parse(await node.callRpc("getblockhash", 0))),
    callRpc: node.callRpc,
    ...createReads(node),
    ...createPayments(node, wallet),
    ...createForks(node, wallet, recordAfter),
    close,
  };
};

const chainId = "local-bitcoin";
/** The length of the genesis hash prefix in a CAIP-2 chain id. */
const chainReferenceLength = 32;

const createCatalogueData = (genesisHash: string): CatalogueData => ({
  chains: [
    {
      id: chainId,
      name: "Local Bitcoin",
      symbol: "BTC",
      chainType: "BVM",
      caip2: `bip122:${genesisHash.slice(0, chainReferenceLength)}`,
      isTestNetwork: true,
    },
  ],
  tokens: [
    {
      id: "btc-local-bitcoin",
      chainId,
      address: "BTC",
      decimals: 8,
      symbol: "BTC",
      name: "Bitcoin",
      isNative: true,
      isStablecoin: false,
      currencyCode: null,
      commodityCode: null,
      source: "mined by the local chain itself",
      verifiedOn: "2026-11-23",
    },
  ],
});

type Wallet = {
  /** The wallet's coins that none of its transactions has spent. */
  coins: Coin[];
  payments: Map<string, SignedPayment & { payees: readonly Payee[] }>;
};

const HeightResult = z.number();
const HashResult = z.string();
const BlockResult = z.object({ tx: z.array(z.string()), confirmations: z.number() });

const readHeight = async (node: Btcd): Promise<number> =>
  HeightResult.parse(await node.callRpc("getblockcount"));

const mine = async (node: Btcd, count: number): Promise<string[]> =>
  count === 0 ? [] : z.array(HashResult).parse(await node.callRpc("generate", count));

const createReads = (node: Btcd) => ({
  readHeight: (): Promise<number> => readHeight(node),
  readHeadHash: async (): Promise<string> =>
    HashResult.parse(await node.callRpc("getbestblockhash")),
  readBlockHash: async (height: number): Promise<string> =>
    HashResult.parse(await node.callRpc("getblockhash", height)),
  /** Returns the ids of the transactions in the mempool. */
  readMempool: async (): Promise<string[]> =>
    z.array(HashResult).parse(await node.callRpc("getrawmempool")),
  /**
   * Returns the number of a transaction's confirmations. It is 0 in the mempool, and undefined if
   * the node does not know the transaction.
   */
  readConfirmations: async (txid: string): Promise<number | undefined> => {
    const transaction = await node.callRpc("getrawtransaction", txid, 1).catch(() => undefined);
    if (transaction === undefined) return undefined;
    const { confirmations = 0 } = z
      .object({ confirmations: z.number().optional() })
      .parse(transaction);
    return confirmations;
  },
  /** Returns the ids of a block's transactions. */
  readTransactions: async (hash: string): Promise<string[]> =>
    BlockResult.parse(await node.callRpc("getblock", hash, 1)).tx,
});

const createPayments = (node: Btcd, wallet: Wallet) => ({
  /** Pays an address with a transaction that stays in the mempool. Returns the transaction's id. */
  pay: ({ to, amount, ...fee }: Payee & Fee): Promise<string> =>
    pay(node, wallet, { payees: [{ to, amount }], ...fee }),
  /** Makes several payments in one transaction. */
  payInOneTransaction: (payees: readonly Payee[], fee: Fee = {}): Promise<string> =>
    pay(node, wallet, { payees, ...fee }),
  /** Pays an address with the change of another transaction, which can be unconfirmed. */
  payFromChange: (txid: string, payee: Payee): Promise<string> => {
    const change = wallet.payments.get(txid)?.change;
    if (change === undefined) throw new Error(`${txid} has no change`);
    wallet.coins = wallet.coins.filter((coin) => coin.txid !== txid);
    const payees = [payee];
    const signedPayment = signPayment({ coins: [change], payees, feeRate: defaultFeeRate });
    return send(node, wallet, { ...signedPayment, payees });
  },
  /**
   * Replaces an unconfirmed transaction with one that has a higher fee and the same or other
   * payees. Returns the id of the new transaction.
   */
  replace: (txid: string, payees?: readonly Payee[]): Promise<string> =>
    replace(node, wallet, { txid, payees }),
  /** Double-spends an unconfirmed transaction's coins, with a payment back to the payer. */
  doubleSpend: (txid: string): Promise<string> =>
    replace(node, wallet, { txid, payees: [{ to: walletAddress, amount: coinAmount / 2n }] }),
});

type RecordAfter = <Args extends unknown[], Result>(
  action: (...args: Args) => Promise<Result>,
) => (...args: Args) => Promise<Result>;

const createForks = (node: Btcd, wallet: Wallet, recordAfter: RecordAfter) => ({
  /**
   * Mines blocks. The first one contains the transactions of the mempool. Returns the hashes of the
   * blocks.
   */
  mine: recordAfter((count: number = 1) => mine(node, count)),
  /**
   * Replaces the newest blocks with a fork that is one block longer. The transactions of the
   * replaced blocks return to the mempool and are mined in the fork's first block. The `dropped`
   * ones are double-spent instead.
   */
  reorg: recordAfter(
    async (depth: number, { dropped = [] }: { dropped?: readonly string[] } = {}) => {
      await invalidate(node, depth);
      for (const txid of dropped) {
        await replace(node, wallet, {
          txid,
          payees: [{ to: walletAddress, amount: coinAmount / 2n }],
        });
      }
      return await mine(node, depth + 1);
    },
  ),
  /**
   * Invalidates the newest blocks without mining any. Their transactions return to the mempool.
   * Returns the hash of the lowest invalidated block. Passing it to `reconsider` restores the
   * blocks.
   */
  invalidate: recordAfter((depth: number) => invalidate(node, depth)),
  reconsider: recordAfter(async (hash: string): Promise<void> => {
    await node.callRpc("reconsiderblock", hash);
  }),
});

const invalidate = async (node: Btcd, depth: number): Promise<string> => {
  const lowestHash = HashResult.parse(
    await node.callRpc("getblockhash", (await readHeight(node)) - depth + 1),
  );
  await node.callRpc("invalidateblock", lowestHash);
  return lowestHash;
};

const pay = async (
  node: Btcd,
  wallet: Wallet,
  { payees, feeRate = defaultFeeRate, isReplaceable = true }: { payees: readonly Payee[] } & Fee,
): Promise<string> => {
  const totalAmount = payees.reduce((total, { amount }) => total + amount, 0n);
  const coins: Coin[] = [];
  // Selects more coins than needed, so a replacement can pay a higher fee.
  for (
    let selectedAmount = 0n;
    selectedAmount < totalAmount + coinAmount / 2n;
    selectedAmount += coins.at(-1)?.amount ?? 0n
  ) {
    const coin = wallet.coins.shift();
    if (coin === undefined) throw new Error("the wallet is empty");
    coins.push(coin);
  }
  return await send(node, wallet, {
    ...signPayment({ coins, payees, feeRate, isReplaceable }),
    payees,
  });
};

const replace = async (
  node: Btcd,
  wallet: Wallet,
  { txid, payees }: { txid: string; payees: readonly Payee[] | undefined },
): Promise<string> => {
  const originalPayment = wallet.payments.get(txid);
  if (originalPayment === undefined) throw new Error(`${txid} is not one of our payments`);
  const { change, spent, payees: originalPayees } = originalPayment;
  wallet.coins = wallet.coins.filter((coin) => coin.txid !== change?.txid);
  const feeRate = defaultFeeRate * 10;
  const newPayees = payees ?? originalPayees;
  return await send(node, wallet, {
    ...signPayment({ coins: spent, payees: newPayees, feeRate }),
    payees: newPayees,
  });
};

const send = async (
  node: Btcd,
  wallet: Wallet,
  payment: SignedPayment & { payees: readonly Payee[] },
): Promise<string> => {
  await node.callRpc("sendrawtransaction", payment.hex);
  wallet.payments.set(payment.txid, payment);
  if (payment.change !== undefined) wallet.coins.push(payment.change);
  return payment.txid;
};

/**
 * Funds the wallet. Mines the first blocks of a new chain and splits one coin into many small ones.
 */
const fundWallet = async (node: Btcd, wallet: Wallet): Promise<void> => {
  const height = await readHeight(node);
  await mine(node, Math.max(0, firstHeight - height));
  const coins = await findCoins(node);
  const smallCoins = coins.filter(({ amount }) => amount <= coinAmount);
  if (smallCoins.length >= initialCoinCount / 2) {
    wallet.coins.push(...smallCoins);
    return;
  }
  const coin = coins.find(({ amount }) => amount > coinAmount * BigInt(initialCoinCount));
  if (coin === undefined) throw new Error("the wallet has no coin to split");
  const payees = Array.from({ length: initialCoinCount }, () => ({
    to: walletAddress,
    amount: coinAmount,
  }));
  const { hex, txid } = signPayment({ coins: [coin], payees, feeRate: defaultFeeRate });
  await node.callRpc("sendrawtransaction", hex);
  await mine(node, 1);
  wallet.coins.push(...payees.map(({ amount }, index) => ({ txid, index, amount })));
};
