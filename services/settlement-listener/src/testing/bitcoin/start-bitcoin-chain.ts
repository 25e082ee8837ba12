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

/** Until then the first coins cannot be spent. */
const firstHeight = 105;
const initialCoinCount = 60;
const coinAmount = 50_000_000n;
const defaultFeeRate = 2;

type Fee = {
  /** In the smallest unit per byte. */
  feeRate?: number;
  /** Whether the payer may send another in its stead, as most wallets allow. */
  isReplaceable?: boolean;
};

export type LocalBitcoinChain = Awaited<ReturnType<typeof startBitcoinChain>>;

/**
 * Opens a local Bitcoin: btcd's regtest chain, with a purse that holds plenty. It makes blocks only
 * when it is told to. With a `journalFile` it goes on where it stood.
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
  /** Does what changes the chain, then writes what came of it. */
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
    /** The chain and its coin, as a catalogue has them. */
    catalogueData: createCatalogueData(HashResult.parse(await node.callRpc("getblockhash", 0))),
    callRpc: node.callRpc,
    ...createReads(node),
    ...createPayments(node, wallet),
    ...createForks(node, wallet, recordAfter),
    close,
  };
};

const chainId = "local-bitcoin";
/** CAIP-2 names a chain by so much of its genesis hash. */
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
  /** What no transaction of ours spends yet. */
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
  /** The transactions that wait for a block. */
  readMempool: async (): Promise<string[]> =>
    z.array(HashResult).parse(await node.callRpc("getrawmempool")),
  /** How deep a transaction stands: 0 in the mempool, undefined if the node knows it no more. */
  readConfirmations: async (txid: string): Promise<number | undefined> => {
    const transaction = await node.callRpc("getrawtransaction", txid, 1).catch(() => undefined);
    if (transaction === undefined) return undefined;
    const { confirmations = 0 } = z
      .object({ confirmations: z.number().optional() })
      .parse(transaction);
    return confirmations;
  },
  /** The transactions of a block. */
  readTransactions: async (hash: string): Promise<string[]> =>
    BlockResult.parse(await node.callRpc("getblock", hash, 1)).tx,
});

const createPayments = (node: Btcd, wallet: Wallet) => ({
  /** Pays an address; the transaction waits for a block. Answers its id. */
  pay: ({ to, amount, ...fee }: Payee & Fee): Promise<string> =>
    pay(node, wallet, { payees: [{ to, amount }], ...fee }),
  /** Several payments in one transaction. */
  payInOneTransaction: (payees: readonly Payee[], fee: Fee = {}): Promise<string> =>
    pay(node, wallet, { payees, ...fee }),
  /** Pays an address with what came back to the payer of another transaction, which may wait itself. */
  payFromChange: (txid: string, payee: Payee): Promise<string> => {
    const change = wallet.payments.get(txid)?.change;
    if (change === undefined) throw new Error(`of ${txid} nothing came back`);
    wallet.coins = wallet.coins.filter((coin) => coin.txid !== txid);
    const payees = [payee];
    const signedPayment = signPayment({ coins: [change], payees, feeRate: defaultFeeRate });
    return send(node, wallet, { ...signedPayment, payees });
  },
  /**
   * Sends another transaction in a waiting one's stead, for a higher fee: it pays the same, or what is
   * given. Answers its id.
   */
  replace: (txid: string, payees?: readonly Payee[]): Promise<string> =>
    replace(node, wallet, { txid, payees }),
  /** Spends a waiting transaction's coins to the payer, so that it pays nobody. */
  doubleSpend: (txid: string): Promise<string> =>
    replace(node, wallet, { txid, payees: [{ to: walletAddress, amount: coinAmount / 2n }] }),
});

type RecordAfter = <Args extends unknown[], Result>(
  action: (...args: Args) => Promise<Result>,
) => (...args: Args) => Promise<Result>;

const createForks = (node: Btcd, wallet: Wallet, recordAfter: RecordAfter) => ({
  /** Makes blocks; what waits stands in the first. Answers their hashes. */
  mine: recordAfter((count: number = 1) => mine(node, count)),
  /**
   * Another chain wins: the newest blocks are gone, and one block more follows. What stood in them waits
   * again and stands in the first of the new ones, save what is dropped: it is spent otherwise.
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
   * Takes the newest blocks back, and makes none; what stood in them waits again. Answers the hash of
   * the lowest of them, by which `reconsider` brings them back.
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
  // Twice as much, so that a replacement can pay a higher fee.
  for (
    let selectedAmount = 0n;
    selectedAmount < totalAmount + coinAmount / 2n;
    selectedAmount += coins.at(-1)?.amount ?? 0n
  ) {
    const coin = wallet.coins.shift();
    if (coin === undefined) throw new Error("the purse is empty");
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
  if (originalPayment === undefined) throw new Error(`${txid} is no payment of ours`);
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

/** A chain that is new gets its first blocks, and coins that are small enough to be many. */
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
  if (coin === undefined) throw new Error("the purse has no coin to change");
  const payees = Array.from({ length: initialCoinCount }, () => ({
    to: walletAddress,
    amount: coinAmount,
  }));
  const { hex, txid } = signPayment({ coins: [coin], payees, feeRate: defaultFeeRate });
  await node.callRpc("sendrawtransaction", hex);
  await mine(node, 1);
  wallet.coins.push(...payees.map(({ amount }, index) => ({ txid, index, amount })));
};
