import { randomBytes } from "node:crypto";
import { solanaReference, tronFromHex, tronToHex } from "@payment-links/contracts";
import { drawDescriptor } from "@payment-links/contracts/testing/draw-descriptor";
import {
  type Chain,
  type PaymentOrder,
  type TokenName,
  openChain,
} from "@payment-links/settlement-listener/testing";
import {
  type BitcoinChain,
  openBitcoinChain,
} from "@payment-links/settlement-listener/testing/open-bitcoin-chain";
import {
  freshAddress,
  openSolanaChain,
} from "@payment-links/settlement-listener/testing/open-solana-chain";
import { openTronChain } from "@payment-links/settlement-listener/testing/open-tron-chain";
import type { PaidChain, WatchSettings } from "./payment-system.ts";

/** What a payer pays; the amount is in base units, `to` the owner's own address or the link's. */
type FamilyOrder = { reference: string; to: string; amount: bigint; payer?: 0 | 1 | 2 };

/** A local chain of a family, on which links are paid. */
export type LocalFamily = Omit<PaidChain, "decimals" | "unit"> & {
  settings: WatchSettings;
  finalizedLag: number;
  decimals: number;
  /** In base units, what the table of payments counts in. */
  unit: bigint;
  payTogether: (orders: readonly FamilyOrder[]) => Promise<string>;
  close: () => Promise<void>;
};

type TokenOrder = FamilyOrder & { token?: "wrong" | "unknown" | "fee" };

/** A payment that can be sent once more after its block has been lost. */
type Waiting = { hash: string; sendAgain: () => Promise<void> };

/** One of tokens, on which a payment names its link beside whom it pays. */
export type TokenFamily = Omit<LocalFamily, "pay"> & {
  /** The catalogue's id of a token that takes a hundredth of each transfer. */
  feeTokenId: string;
  pay: (order: TokenOrder) => Promise<string>;
  /** Names the reference in the way that the watcher looks for, and moves nothing. */
  payForged: (order: FamilyOrder) => Promise<unknown>;
  /** Stands in a block, and has failed. */
  payFailing: (order: FamilyOrder) => Promise<unknown>;
  payAndKeep: (order: FamilyOrder) => Promise<Waiting>;
  /** Replaces the newest block by an empty one. */
  orphan: () => Promise<void>;
  /** The next block's time, in Unix seconds. */
  setTime: (seconds: number) => Promise<unknown>;
};

/** A local Bitcoin, on which more can happen to a payment before its block and after it. */
export type LocalBitcoin = LocalFamily &
  Pick<BitcoinChain, "doubleSpend" | "reorg" | "replace"> & {
    /** So deep is final: what was spent otherwise there has failed. */
    finalDepthBlocks: number;
  };

/** Blocks between what is seen and what settles. */
const lag = 2;
const usdc = { decimals: 6, unit: 1_000_000n };
const evmTokens = { wrong: "other6", unknown: "unlisted", fee: "fee" } as const;
const solanaTokens = { wrong: "newer", unknown: "other", fee: "fee" } as const;

type EvmRig = Pick<
  Chain,
  | "ask"
  | "blockAccount"
  | "client"
  | "mine"
  | "pay"
  | "payFakeProxy"
  | "payTogether"
  | "rawOf"
  | "reorg"
  | "setTime"
>;

/** The hands of an EVM node, with owners' addresses turned into its own form. */
const evmHands = (chain: EvmRig, toHex: (address: string) => string) => {
  const read = ({ token, to, ...order }: TokenOrder): PaymentOrder => {
    const name: TokenName = token === undefined ? "usdc" : evmTokens[token];
    return { ...order, to: toHex(to), token: name };
  };
  return {
    pay: (order: TokenOrder) => chain.pay(read(order)),
    payTogether: (orders: readonly FamilyOrder[]) => chain.payTogether(orders.map(read)),
    payForged: (order: FamilyOrder) => chain.payFakeProxy(read(order)),
    payFailing: async (order: FamilyOrder) => {
      await chain.blockAccount(toHex(order.to));
      await chain.mine();
      const hash = await chain.pay({ ...read(order), token: "blocking" });
      await chain.mine();
      const { status } = await chain.client.getTransactionReceipt({ hash });
      if (status !== "reverted") throw new Error("the payment did not fail");
    },
    payAndKeep: async (order: FamilyOrder): Promise<Waiting> => {
      const hash = await chain.pay(read(order));
      const raw = await chain.rawOf(hash);
      return {
        hash,
        sendAgain: async () => void (await chain.ask("eth_sendRawTransaction", [raw])),
      };
    },
    orphan: () => chain.reorg(1),
    setTime: (seconds: number) => chain.setTime(seconds),
  };
};

const openEvm = async (): Promise<TokenFamily> => {
  const chain = await openChain({ slotsInEpoch: 1 });
  const hands = evmHands(chain, (address) => address);
  const settings = { finality: { blocks: lag } };
  return { ...chain, ...usdc, ...hands, settings, finalizedLag: lag, feeTokenId: "fee" };
};

const openTron = async (): Promise<TokenFamily> => {
  const chain = await openTronChain({ finalizedLag: lag });
  return {
    ...chain,
    ...usdc,
    ...evmHands(chain, tronToHex),
    settings: { finality: "finalized" },
    finalizedLag: lag,
    openWallet: () => tronFromHex(randomBytes(20).toString("hex")),
    tokenId: "usdc-local-tron",
    feeTokenId: "fee-local-tron",
  };
};

const openSolana = async (): Promise<TokenFamily> => {
  const chain = await openSolanaChain({ confirmedLag: 0, finalizedLag: lag });
  const read = ({ reference, token, ...order }: TokenOrder) => ({
    ...order,
    references: [solanaReference(reference)],
    ...(token === undefined ? {} : { token: solanaTokens[token] }),
  });
  return {
    chainId: "local-solana",
    url: chain.url,
    catalogueData: chain.catalogueData,
    headNumber: () => Promise.resolve(chain.head()),
    mine: async (blocks) => void chain.mine(blocks),
    ...usdc,
    settings: { finality: "finalized" },
    finalizedLag: lag,
    openWallet: freshAddress,
    tokenId: "usdc-local-solana",
    feeTokenId: "fee-local-solana",
    pay: (order) => chain.pay(read(order)),
    payTogether: (orders) => chain.payTogether(orders.map(read)),
    payForged: (order) => chain.payForged(read(order)),
    payFailing: (order) => chain.payFailing(read(order)),
    payAndKeep: async (order) => {
      const signed = await chain.sign([read(order)]);
      chain.send(signed);
      return { hash: signed.signature, sendAgain: async () => chain.send(signed) };
    },
    orphan: async () => chain.reorg(1),
    setTime: async (seconds) => chain.setTime(seconds),
    close: chain.close,
  };
};

/** Those of tokens, by name. */
export const tokenFamilies: readonly [string, () => Promise<TokenFamily>][] = [
  ["EVM", openEvm],
  ["Tron", openTron],
  ["Solana", openSolana],
];

export const openBitcoin = async (program: string): Promise<LocalBitcoin> => {
  const chain = await openBitcoinChain({ program });
  const finalDepthBlocks = 4;
  return {
    ...chain,
    headNumber: chain.height,
    mine: async (blocks) => void (await chain.mine(blocks)),
    // Large amounts ask for more blocks, as by default.
    settings: { finality: { blocks: lag }, finalDepthBlocks },
    finalDepthBlocks,
    finalizedLag: lag,
    openWallet: () => drawDescriptor(chain.chainId),
    tokenId: "btc-local-bitcoin",
    decimals: 8,
    unit: 1_000n,
    pay: ({ to, amount }) => chain.pay({ to, amount }),
  };
};
