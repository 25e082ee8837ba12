import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import type { CatalogueData } from "@payment-links/contracts";
import { type Log, openLog } from "@payment-links/runtime";
import {
  type Coin,
  type Payee,
  type SignedPayment,
  findCoins,
  purseAddress,
  signPayment,
} from "./open-purse.ts";
import { openBlockJournal } from "./block-journal.ts";
import { type Btcd, startBtcd } from "./start-btcd.ts";

/** Until then the first coins cannot be spent. */
const firstHeight = 105;
const coinsAtOnce = 60;
const coinAmount = 50_000_000n;
const usualFeeRate = 2;

type Fee = {
  /** In the smallest unit per byte. */
  feeRate?: number;
  /** Whether the payer may send another in its stead, as most wallets allow. */
  isReplaceable?: boolean;
};

export type BitcoinChain = Awaited<ReturnType<typeof openBitcoinChain>>;

/**
 * Opens a local Bitcoin: btcd's regtest chain, with a purse that holds plenty. It makes blocks only
 * when it is told to. With a `journalFile` it goes on where it stood.
 */
export const openBitcoinChain = async ({
  program,
  journalFile,
  port,
  log = openLog({ service: "chain", level: "fatal" }),
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
    minerAddress: purseAddress,
    log,
    ...(port === undefined ? {} : { port }),
  }).catch(async (error: unknown) => {
    await rm(folder, { recursive: true, force: true });
    throw error;
  });
  const purse: Purse = { coins: [], payments: new Map() };
  let record = async (): Promise<void> => undefined;
  const close = async (): Promise<void> => {
    await node.close();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    if (journalFile !== undefined) ({ record } = await openBlockJournal(node, journalFile));
    await fill(node, purse);
    await record();
  } catch (error) {
    await close();
    throw error;
  }
  /** Does what changes the chain, then writes what came of it. */
  const recorded =
    <Args extends unknown[], Result>(change: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      const result = await change(...args);
      await record();
      return result;
    };
  return {
    url: node.url,
    chainId,
    /** The chain and its coin, as a catalogue has them. */
    catalogueData: catalogueOf(Hash.parse(await node.ask("getblockhash", 0))),
    ask: node.ask,
    ...reading(node),
    ...paying(node, purse),
    ...forking(node, purse, recorded),
    close,
  };
};

const chainId = "local-bitcoin";
/** CAIP-2 names a chain by so much of its genesis hash. */
const referenceCharacters = 32;

const catalogueOf = (genesisHash: string): CatalogueData => ({
  chains: [
    {
      id: chainId,
      name: "Local Bitcoin",
      symbol: "BTC",
      chainType: "BVM",
      caip2: `bip122:${genesisHash.slice(0, referenceCharacters)}`,
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

type Purse = {
  /** What no transaction of ours spends yet. */
  coins: Coin[];
  payments: Map<string, SignedPayment & { payees: readonly Payee[] }>;
};

const Height = z.number();
const Hash = z.string();
const Block = z.object({ tx: z.array(z.string()), confirmations: z.number() });

const readHeight = async (node: Btcd): Promise<number> =>
  Height.parse(await node.ask("getblockcount"));

const mine = async (node: Btcd, count: number): Promise<string[]> =>
  count === 0 ? [] : z.array(Hash).parse(await node.ask("generate", count));

const reading = (node: Btcd) => ({
  height: (): Promise<number> => readHeight(node),
  head: async (): Promise<string> => Hash.parse(await node.ask("getbestblockhash")),
  hashAt: async (height: number): Promise<string> =>
    Hash.parse(await node.ask("getblockhash", height)),
  /** The transactions that wait for a block. */
  mempool: async (): Promise<string[]> => z.array(Hash).parse(await node.ask("getrawmempool")),
  /** How deep a transaction stands: 0 in the mempool, undefined if the node knows it no more. */
  confirmationsOf: async (txid: string): Promise<number | undefined> => {
    const known = await node.ask("getrawtransaction", txid, 1).catch(() => undefined);
    if (known === undefined) return undefined;
    const { confirmations = 0 } = z.object({ confirmations: z.number().optional() }).parse(known);
    return confirmations;
  },
  /** The transactions of a block. */
  transactionsOf: async (hash: string): Promise<string[]> =>
    Block.parse(await node.ask("getblock", hash, 1)).tx,
});

const paying = (node: Btcd, purse: Purse) => ({
  /** Pays an address; the transaction waits for a block. Answers its id. */
  pay: ({ to, amount, ...fee }: Payee & Fee): Promise<string> =>
    pay(node, purse, { payees: [{ to, amount }], ...fee }),
  /** Several payments in one transaction. */
  payTogether: (payees: readonly Payee[], fee: Fee = {}): Promise<string> =>
    pay(node, purse, { payees, ...fee }),
  /** Pays an address with what came back to the payer of another transaction, which may wait itself. */
  payOutOf: (txid: string, payee: Payee): Promise<string> => {
    const change = purse.payments.get(txid)?.change;
    if (change === undefined) throw new Error(`of ${txid} nothing came back`);
    purse.coins = purse.coins.filter((coin) => coin.txid !== txid);
    const payees = [payee];
    const signed = signPayment({ coins: [change], payees, feeRate: usualFeeRate });
    return send(node, purse, { ...signed, payees });
  },
  /**
   * Sends another transaction in a waiting one's stead, for a higher fee: it pays the same, or what is
   * given. Answers its id.
   */
  replace: (txid: string, payees?: readonly Payee[]): Promise<string> =>
    replace(node, purse, { txid, payees }),
  /** Spends a waiting transaction's coins to the payer, so that it pays nobody. */
  doubleSpend: (txid: string): Promise<string> =>
    replace(node, purse, { txid, payees: [{ to: purseAddress, amount: coinAmount / 2n }] }),
});

type Recorded = <Args extends unknown[], Result>(
  change: (...args: Args) => Promise<Result>,
) => (...args: Args) => Promise<Result>;

const forking = (node: Btcd, purse: Purse, recorded: Recorded) => ({
  /** Makes blocks; what waits stands in the first. Answers their hashes. */
  mine: recorded((count: number = 1) => mine(node, count)),
  /**
   * Another chain wins: the newest blocks are gone, and one block more follows. What stood in them waits
   * again and stands in the first of the new ones, save what is dropped: it is spent otherwise.
   */
  reorg: recorded(async (depth: number, { dropped = [] }: { dropped?: readonly string[] } = {}) => {
    await invalidate(node, depth);
    for (const txid of dropped) {
      await replace(node, purse, {
        txid,
        payees: [{ to: purseAddress, amount: coinAmount / 2n }],
      });
    }
    return await mine(node, depth + 1);
  }),
  /**
   * Takes the newest blocks back, and makes none; what stood in them waits again. Answers the hash of
   * the lowest of them, by which `reconsider` brings them back.
   */
  invalidate: recorded((depth: number) => invalidate(node, depth)),
  reconsider: recorded(async (hash: string): Promise<void> => {
    await node.ask("reconsiderblock", hash);
  }),
});

const invalidate = async (node: Btcd, depth: number): Promise<string> => {
  const lowest = Hash.parse(await node.ask("getblockhash", (await readHeight(node)) - depth + 1));
  await node.ask("invalidateblock", lowest);
  return lowest;
};

const pay = async (
  node: Btcd,
  purse: Purse,
  { payees, feeRate = usualFeeRate, isReplaceable = true }: { payees: readonly Payee[] } & Fee,
): Promise<string> => {
  const asked = payees.reduce((total, { amount }) => total + amount, 0n);
  const coins: Coin[] = [];
  // Twice as much, so that a replacement can pay a higher fee.
  for (let held = 0n; held < asked + coinAmount / 2n; held += coins.at(-1)?.amount ?? 0n) {
    const coin = purse.coins.shift();
    if (coin === undefined) throw new Error("the purse is empty");
    coins.push(coin);
  }
  return await send(node, purse, {
    ...signPayment({ coins, payees, feeRate, isReplaceable }),
    payees,
  });
};

const replace = async (
  node: Btcd,
  purse: Purse,
  { txid, payees }: { txid: string; payees: readonly Payee[] | undefined },
): Promise<string> => {
  const replaced = purse.payments.get(txid);
  if (replaced === undefined) throw new Error(`${txid} is no payment of ours`);
  const { change, spent, payees: paid } = replaced;
  purse.coins = purse.coins.filter((coin) => coin.txid !== change?.txid);
  const feeRate = usualFeeRate * 10;
  const instead = payees ?? paid;
  return await send(node, purse, {
    ...signPayment({ coins: spent, payees: instead, feeRate }),
    payees: instead,
  });
};

const send = async (
  node: Btcd,
  purse: Purse,
  payment: SignedPayment & { payees: readonly Payee[] },
): Promise<string> => {
  await node.ask("sendrawtransaction", payment.hex);
  purse.payments.set(payment.txid, payment);
  if (payment.change !== undefined) purse.coins.push(payment.change);
  return payment.txid;
};

/** A chain that is new gets its first blocks, and coins that are small enough to be many. */
const fill = async (node: Btcd, purse: Purse): Promise<void> => {
  const height = await readHeight(node);
  await mine(node, Math.max(0, firstHeight - height));
  const coins = await findCoins(node);
  const small = coins.filter(({ amount }) => amount <= coinAmount);
  if (small.length >= coinsAtOnce / 2) {
    purse.coins.push(...small);
    return;
  }
  const coin = coins.find(({ amount }) => amount > coinAmount * BigInt(coinsAtOnce));
  if (coin === undefined) throw new Error("the purse has no coin to change");
  const payees = Array.from({ length: coinsAtOnce }, () => ({
    to: purseAddress,
    amount: coinAmount,
  }));
  const { hex, txid } = signPayment({ coins: [coin], payees, feeRate: usualFeeRate });
  await node.ask("sendrawtransaction", hex);
  await mine(node, 1);
  purse.coins.push(...payees.map(({ amount }, index) => ({ txid, index, amount })));
};
