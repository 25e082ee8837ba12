import { createHash } from "node:crypto";
import { deriveSolanaReference, getTokenProgram } from "@payment-links/chains";
import { tronAddressFromHex, tronAddressToHex } from "@payment-links/chains/tron-address";
import { loadCatalogue } from "@payment-links/contracts";
import { type Block, type Transaction, finalDepth } from "./block.ts";
import {
  serializeHeader,
  genesisBlock,
  hashHeader,
  computeTransactionId,
} from "./bitcoin-bytes.ts";

type Token = { id: string; address: string; nodeAddress: string };

/** A chain of the catalogue, with the data that the simulation needs. */
export type ChainKind = {
  chainId: string;
  chainType: "EVM" | "TVM" | "SVM" | "BVM";
  /** The chain ID that its nodes report. It is a number on EVM chains. */
  nodeChainId: string;
  /**
   * The catalogue's tokens with the 20-byte addresses that nodes use. Links use the first token.
   */
  tokens: readonly [Token, ...Token[]];
  /** A token that is not in the catalogue. Bitcoin has none. */
  unlistedToken: string;
  /** The number of base units per token, as nodes count them. */
  baseUnitsPerToken: number;
  /** Whether payments appear as logs of a token and of the fee proxy. */
  hasLogs: boolean;
  erc20Proxy: string;
  payers: readonly string[];
  /** The sender of forged payments. */
  forger: string;
  hashBlock: (block: Omit<Block, "hash">) => string;
  hashTransaction: (
    transaction: Pick<Transaction, "sequenceNumber" | "inputs" | "outputs">,
  ) => string;
  /** Returns another hash for a block. Not used on Bitcoin, where the hash depends on the block's content. */
  alterHash: (hash: string) => string;
  rangeBlocksMaxOptions: readonly number[];
  settings: object;
  /** Owners' addresses in the family's format. On Bitcoin, these are account keys. */
  wallets: readonly string[];
  otherWallet: string;
  toNodeAddress: (address: string) => string;
};

const catalogue = loadCatalogue();

/** Returns a chain's tokens with their addresses on nodes. The links' token comes first. */
const createTokens = (
  [firstId, ...otherIds]: readonly [string, ...string[]],
  toNodeAddress: (address: string) => string,
): ChainKind["tokens"] => {
  const createToken = (id: string): Token => {
    const address = catalogue.findToken(id)?.address;
    if (address === undefined) throw new RangeError(`no token ${id}`);
    return { id, address, nodeAddress: toNodeAddress(address) };
  };
  return [createToken(firstId), ...otherIds.map(createToken)];
};

const getChain = (chainId: string) => {
  const chain = catalogue.chains.find(({ id }) => id === chainId);
  if (chain === undefined) throw new RangeError(`no chain ${chainId}`);
  return chain;
};

const wallets = [
  "0x52908400098527886E0F7030069857D2E4169EE7",
  "0x8617E340B3D01FA5F11F306F4090FD50E238070D",
  "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
  "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
];
const otherWallet = "0xde709f2102306220921060314715629080e2fb77";
const lowercase = (text: string): string => text.toLowerCase();
const hashToHex = (text: string): string => `0x${createHash("sha256").update(text).digest("hex")}`;

const evm = {
  unlistedToken: `0x${"99".repeat(20)}`,
  baseUnitsPerToken: 1_000_000,
  hasLogs: true,
  payers: ["1", "2", "3"].map((digit) => `0x${digit.repeat(40)}`),
  forger: `0x${"f".repeat(40)}`,
  hashBlock: ({ sequenceNumber }: Pick<Block, "sequenceNumber">) =>
    hashToHex(`block ${sequenceNumber}`),
  hashTransaction: ({ sequenceNumber }: Pick<Transaction, "sequenceNumber">) =>
    hashToHex(`transaction ${sequenceNumber}`),
  alterHash: (hash: string) => `0xbad${hash.slice(5)}`,
  rangeBlocksMaxOptions: [3, 50],
  settings: {},
};

export const base: ChainKind = {
  ...evm,
  chainId: "8453",
  chainType: "EVM",
  nodeChainId: "8453",
  tokens: createTokens(["usdc-base", "eurc-base"], lowercase),
  erc20Proxy: lowercase(getChain("8453").feeProxies?.erc20 ?? ""),
  wallets,
  otherWallet,
  toNodeAddress: lowercase,
};

export const tron: ChainKind = {
  ...evm,
  chainId: "tron",
  chainType: "TVM",
  nodeChainId: getChain("tron").caip2.replace("tron:", ""),
  tokens: createTokens(["usdt-tron"], tronAddressToHex),
  erc20Proxy: tronAddressToHex(getChain("tron").feeProxies?.erc20 ?? ""),
  wallets: wallets.map(tronAddressFromHex),
  otherWallet: tronAddressFromHex(otherWallet),
  toNodeAddress: tronAddressToHex,
};

const deriveAddress = (name: string): string =>
  deriveSolanaReference(Buffer.from(name).toString("hex"));

export const solana: ChainKind = {
  chainId: "solana",
  chainType: "SVM",
  nodeChainId: "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d",
  tokens: createTokens(["usdc-solana", "eurc-solana", "usdt-solana", "pyusd-solana"], String),
  unlistedToken: deriveAddress("another mint"),
  baseUnitsPerToken: 1_000_000,
  hasLogs: false,
  erc20Proxy: "",
  payers: ["payer 1", "payer 2", "payer 3"].map(deriveAddress),
  forger: deriveAddress("forger"),
  hashBlock: ({ sequenceNumber }) => deriveAddress(`block ${sequenceNumber}`),
  // A signature has 64 bytes, which is the length of two keys.
  hashTransaction: ({ sequenceNumber }) =>
    `${deriveAddress(`transaction ${sequenceNumber}`)}${deriveAddress(`transaction ${sequenceNumber}, second half`)}`,
  alterHash: (hash) => `bad${hash.slice(3)}`,
  rangeBlocksMaxOptions: [50, 9_000],
  settings: { auditBlocksMin: 5 },
  wallets: ["shop 0", "shop 1", "shop 2", "shop 3"].map(deriveAddress),
  otherWallet: deriveAddress("nobody's"),
  toNodeAddress: String,
};

export const bitcoin: ChainKind = {
  chainId: "bitcoin",
  chainType: "BVM",
  nodeChainId: genesisBlock.hash,
  tokens: createTokens(["btc"], String),
  unlistedToken: "",
  baseUnitsPerToken: 100_000_000,
  hasLogs: false,
  erc20Proxy: "",
  payers: [],
  forger: "ff".repeat(32),
  hashBlock: ({ parent, ...block }) =>
    parent === undefined
      ? genesisBlock.hash
      : hashHeader(serializeHeader({ block, nonce: 0, parentHash: parent.hash, ...block })),
  hashTransaction: computeTransactionId,
  alterHash: String,
  rangeBlocksMaxOptions: [3, 10],
  settings: { finalDepthBlocks: finalDepth },
  // BIP-84 accounts of four discarded seeds.
  wallets: [
    "xpub6BfYyYU1WbtjuhJcX3FeNXpZHkhanZDnWpRi4QD8kxYJ5mzdwqKwGp7MuJVxvjZSos8Cutp8Va6fzBX4CFyB4e5aXgcs6KodhDqH78M9eUn",
    "xpub6D8vH7SXaYfCXSPRfzCCoRpT6H9SxdELxXDLPGfaR3AyiWjkaqu7bA3Ltr1bU9qrPypQvZdEzJ2GWL8nCPuxHzHCJaWSGJ1UebYbcaqzCcP",
    "xpub6CWDongcjhde1nZvFo68PYZhZfXPpYdGYHiSX9Y8bnWvwW9qvV4sE3DqtCXnMe5Nh1hXVgxSPe47QJCVRwNgCpKqaNCSd74djPRaCcFSxMj",
    "xpub6CsPoEBCdZRWAw4bfFEzEUZqqpbGg1njbtVqnNF3H5pcMAJgTuvUnhNxmcRt7FqSPK8uHYVG79mxniXdDYpAVd9NUZQGWYeRNU9EA1PfvwH",
  ].map((key) => `wpkh(${key}/0/*)`),
  otherWallet: "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu",
  toNodeAddress: String,
};

/** Returns the Solana program that owns a token's accounts. */
export const findTokenProgram = (id: string): string =>
  getTokenProgram(catalogue.findToken(id) ?? {});
