import { randomBytes } from "node:crypto";
import { deriveSolanaReference } from "@payment-links/chains";
import { tronAddressFromHex, tronAddressToHex } from "@payment-links/chains/tron-address";
import { generateDescriptor } from "@payment-links/chains/testing/generate-descriptor";
import {
  type LocalEvmChain,
  type PaymentOrder,
  type TokenName,
  startEvmChain,
} from "@payment-links/local-chains/evm/start-evm-chain";
import { startBitcoinChain } from "@payment-links/local-chains/bitcoin/start-bitcoin-chain";
import {
  freshAddress,
  startSolanaChain,
} from "@payment-links/local-chains/solana/start-solana-chain";
import { startTronChain } from "@payment-links/local-chains/tron/start-tron-chain";
import type { PaidChain, WatchSettings } from "./payment-system.ts";

/**
 * A payment to send. The amount is in base units. `to` is the owner's address. On Bitcoin, it is
 * the link's address.
 */
type FamilyPayment = { reference: string; to: string; amount: bigint; payer?: 0 | 1 | 2 };

/** A local chain of a family. Links can be paid on it. */
export type LocalFamily = Omit<PaidChain, "decimals" | "amountUnit"> & {
  settings: WatchSettings;
  finalizedLag: number;
  decimals: number;
  /** The number of base units per unit in the payment cases (`payment-rows.ts`). */
  amountUnit: bigint;
  payInOneTransaction: (payments: readonly FamilyPayment[]) => Promise<string>;
  close: () => Promise<void>;
};

type TokenPayment = FamilyPayment & { token?: "wrong" | "unknown" | "fee" };

/** A payment that can be sent again after its block was orphaned. */
type ResendablePayment = { hash: string; resend: () => Promise<void> };

/**
 * A chain of a token family. On these chains, a payment names its link in addition to its
 * recipient.
 */
export type TokenFamily = Omit<LocalFamily, "pay"> & {
  /** The catalogue ID of a token that takes a 1% fee from each transfer. */
  feeTokenId: string;
  pay: (payment: TokenPayment) => Promise<string>;
  /**
   * Sends a transaction that names the reference in the way that the watcher expects, without a
   * transfer.
   */
  payForged: (payment: FamilyPayment) => Promise<unknown>;
  /** Sends a payment that is included in a block and fails. */
  payFailing: (payment: FamilyPayment) => Promise<unknown>;
  payResendable: (payment: FamilyPayment) => Promise<ResendablePayment>;
  /** Replaces the newest block with an empty one. */
  orphanNewestBlock: () => Promise<void>;
  /** Sets the next block's time, in Unix seconds. */
  setNextBlockTime: (seconds: number) => Promise<unknown>;
};

type SolanaChain = Awaited<ReturnType<typeof startSolanaChain>>;

/** Blocks between the first observation of a payment and its settlement. */
const lagBlocks = 2;
const usdcUnits = { decimals: 6, amountUnit: 1_000_000n };
const evmTokenNames = { wrong: "other6", unknown: "unlisted", fee: "fee" } as const;
const solanaTokenNames = { wrong: "newer", unknown: "other", fee: "fee" } as const;

type EvmChainActions = Pick<
  LocalEvmChain,
  | "callRpc"
  | "blockAccount"
  | "client"
  | "mine"
  | "pay"
  | "payFakeProxy"
  | "payInOneTransaction"
  | "readRawTransaction"
  | "reorg"
  | "setNextBlockTime"
>;

/** Returns the actions of an EVM node. They convert owners' addresses to the node's format. */
const createEvmActions = (chain: EvmChainActions, toHexAddress: (address: string) => string) => {
  const toPaymentOrder = ({ token, to, ...payment }: TokenPayment): PaymentOrder => {
    const name: TokenName = token === undefined ? "usdc" : evmTokenNames[token];
    return { ...payment, to: toHexAddress(to), token: name };
  };
  return {
    pay: (payment: TokenPayment) => chain.pay(toPaymentOrder(payment)),
    payInOneTransaction: (payments: readonly FamilyPayment[]) =>
      chain.payInOneTransaction(payments.map(toPaymentOrder)),
    payForged: (payment: FamilyPayment) => chain.payFakeProxy(toPaymentOrder(payment)),
    payFailing: async (payment: FamilyPayment) => {
      await chain.blockAccount(toHexAddress(payment.to));
      await chain.mine();
      const hash = await chain.pay({ ...toPaymentOrder(payment), token: "blocking" });
      await chain.mine();
      await expectReverted(chain, hash);
    },
    payResendable: async (payment: FamilyPayment): Promise<ResendablePayment> => {
      const hash = await chain.pay(toPaymentOrder(payment));
      const rawTransaction = await chain.readRawTransaction(hash);
      return {
        hash,
        resend: async () => void (await chain.callRpc("eth_sendRawTransaction", [rawTransaction])),
      };
    },
    orphanNewestBlock: () => chain.reorg(1),
    setNextBlockTime: (seconds: number) => chain.setNextBlockTime(seconds),
  };
};

export const startEvm = async (slotsInEpoch = 1) => {
  const chain = await startEvmChain({ slotsInEpoch });
  return {
    ...chain,
    ...usdcUnits,
    ...createEvmActions(chain, (address) => address),
    /** Pays in any of the chain's tokens. */
    payOrder: chain.pay,
    settings: { finality: { blocks: lagBlocks } },
    finalizedLag: lagBlocks,
    feeTokenId: "fee",
  };
};
export type LocalEvm = Awaited<ReturnType<typeof startEvm>>;

/** Starts an EVM chain on which payments are transfers that name their link by a suffix. */
export const startSuffixChain = async () => {
  const chain = await startEvm(4);
  const actions = createEvmActions({ ...chain, pay: chain.payBySuffix }, (address) => address);
  return {
    ...chain,
    ...actions,
    payFailing: async (payment: FamilyPayment) => {
      const hash = await chain.payBySuffix({ ...payment, amount: 10n ** 40n });
      await chain.mine();
      await expectReverted(chain, hash);
    },
  };
};
export type SuffixChain = Awaited<ReturnType<typeof startSuffixChain>>;

const expectReverted = async (
  { client }: Pick<LocalEvmChain, "client">,
  hash: `0x${string}`,
): Promise<void> => {
  const { status } = await client.getTransactionReceipt({ hash });
  if (status !== "reverted") throw new Error("the payment did not fail");
};

export const startTron = async (): Promise<TokenFamily> => {
  const chain = await startTronChain({ finalizedLag: lagBlocks });
  return {
    ...chain,
    ...usdcUnits,
    ...createEvmActions(chain, tronAddressToHex),
    settings: { finality: "finalized" },
    finalizedLag: lagBlocks,
    createAddress: () => tronAddressFromHex(randomBytes(20).toString("hex")),
    tokenId: "usdc-local-tron",
    feeTokenId: "fee-local-tron",
  };
};

export const startSolana = async (): Promise<TokenFamily & { solana: SolanaChain }> => {
  const chain = await startSolanaChain({ confirmedLag: 0, finalizedLag: lagBlocks });
  const toPaymentOrder = ({ reference, token, ...payment }: TokenPayment) => ({
    ...payment,
    references: [deriveSolanaReference(reference)],
    ...(token === undefined ? {} : { token: solanaTokenNames[token] }),
  });
  return {
    solana: chain,
    chainId: "local-solana",
    url: chain.url,
    catalogueData: chain.catalogueData,
    readHeadNumber: () => Promise.resolve(chain.getHeadSlot()),
    mine: async (blocks) => void chain.mine(blocks),
    ...usdcUnits,
    settings: { finality: "finalized" },
    finalizedLag: lagBlocks,
    createAddress: freshAddress,
    tokenId: "usdc-local-solana",
    feeTokenId: "fee-local-solana",
    pay: (payment) => chain.pay(toPaymentOrder(payment)),
    payInOneTransaction: (payments) => chain.payInOneTransaction(payments.map(toPaymentOrder)),
    payForged: (payment) => chain.payForged(toPaymentOrder(payment)),
    payFailing: (payment) => chain.payFailing(toPaymentOrder(payment)),
    payResendable: async (payment) => {
      const signedTransaction = await chain.sign([toPaymentOrder(payment)]);
      chain.send(signedTransaction);
      return {
        hash: signedTransaction.signature,
        resend: async () => chain.send(signedTransaction),
      };
    },
    orphanNewestBlock: async () => chain.reorg(1),
    setNextBlockTime: async (seconds) => chain.setNextBlockTime(seconds),
    close: chain.close,
  };
};

export const startBitcoin = async (program: string): Promise<LocalFamily> => {
  const chain = await startBitcoinChain({ program });
  return {
    ...chain,
    readHeadNumber: chain.readHeight,
    mine: async (blocks) => void (await chain.mine(blocks)),
    // Large amounts need more confirmations, as in the default settings.
    settings: { finality: { blocks: lagBlocks }, finalDepthBlocks: 4 },
    finalizedLag: lagBlocks,
    createAddress: () => generateDescriptor(chain.chainId),
    tokenId: "btc-local-bitcoin",
    decimals: 8,
    amountUnit: 1_000n,
    pay: ({ to, amount }) => chain.pay({ to, amount }),
  };
};
