import { randomBytes } from "node:crypto";
import { solanaReference, tronFromHex, tronToHex } from "@payment-links/contracts";
import {
  type Chain,
  type PaymentOrder,
  type TokenName,
  openChain,
} from "@payment-links/settlement-listener/testing";
import {
  freshAddress,
  openSolanaChain,
} from "@payment-links/settlement-listener/testing/open-solana-chain";
import { openTronChain } from "@payment-links/settlement-listener/testing/open-tron-chain";
import type { PaidChain } from "./payment-system.ts";

/** What a payer pays; the amount is in base units of six places, `to` the owner's own address. */
type FamilyOrder = {
  reference: string;
  to: string;
  amount: bigint;
  token?: "wrong" | "unknown" | "fee";
  payer?: 0 | 1 | 2;
};

/** A payment that can be sent once more after its block has been lost. */
export type Waiting = { hash: string; sendAgain: () => Promise<void> };

/** A local chain of a family, on which everything of the table of payments can be done. */
export type LocalFamily = Omit<PaidChain, "pay"> & {
  finality: "finalized" | { blocks: number };
  finalizedLag: number;
  /** The catalogue's id of a token that takes a hundredth of each transfer. */
  feeTokenId: string;
  pay: (order: FamilyOrder) => Promise<string>;
  payTogether: (orders: readonly FamilyOrder[]) => Promise<string>;
  /** Names the reference in the way that the watcher looks for, and moves nothing. */
  payForged: (order: FamilyOrder) => Promise<unknown>;
  /** Stands in a block, and has failed. */
  payFailing: (order: FamilyOrder) => Promise<unknown>;
  payAndKeep: (order: FamilyOrder) => Promise<Waiting>;
  /** Replaces the newest block by an empty one. */
  orphan: () => Promise<void>;
  /** The next block's time, in Unix seconds. */
  setTime: (seconds: number) => Promise<unknown>;
  close: () => Promise<void>;
};

const lag = 2;
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
  const read = ({ token, to, ...order }: FamilyOrder): PaymentOrder => {
    const name: TokenName = token === undefined ? "usdc" : evmTokens[token];
    return { ...order, to: toHex(to), token: name };
  };
  return {
    pay: (order: FamilyOrder) => chain.pay(read(order)),
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

const openEvm = async (): Promise<LocalFamily> => {
  const chain = await openChain({ slotsInEpoch: 1 });
  const hands = evmHands(chain, (address) => address);
  const finality = { blocks: lag };
  return { ...chain, ...hands, finality, finalizedLag: lag, feeTokenId: "fee" };
};

const openTron = async (): Promise<LocalFamily> => {
  const chain = await openTronChain({ finalizedLag: lag });
  return {
    ...chain,
    ...evmHands(chain, tronToHex),
    finality: "finalized",
    finalizedLag: lag,
    openWallet: () => tronFromHex(randomBytes(20).toString("hex")),
    tokenId: "usdc-local-tron",
    feeTokenId: "fee-local-tron",
  };
};

const openSolana = async (): Promise<LocalFamily> => {
  const chain = await openSolanaChain({ confirmedLag: 0, finalizedLag: lag });
  const read = ({ reference, token, ...order }: FamilyOrder) => ({
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
    finality: "finalized",
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

/** Those whose watchers settle, by name. */
export const families: readonly [string, () => Promise<LocalFamily>][] = [
  ["EVM", openEvm],
  ["Tron", openTron],
  ["Solana", openSolana],
];
