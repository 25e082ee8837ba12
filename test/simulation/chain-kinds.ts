import { createHash } from "node:crypto";
import {
  openCatalogue,
  solanaReference,
  solanaTokenPrograms,
  tronFromHex,
  tronToHex,
} from "@payment-links/contracts";

type Token = { id: string; address: string; hex: string };

/** A chain of the catalogue on which payers pay, as far as the simulation minds. */
export type ChainKind = {
  chainId: string;
  chainType: "EVM" | "TVM" | "SVM";
  /** What its nodes say that they serve: an EVM node by a number. */
  nodeChainId: string;
  /** The tokens of the catalogue, by the 20 bytes that nodes speak of; links ask for the first. */
  tokens: readonly [Token, ...Token[]];
  /** None on Solana. */
  erc20Proxy: string;
  payers: readonly string[];
  /** Who pays what nobody paid. */
  forger: string;
  nameBlock: (text: string) => string;
  nameTransaction: (text: string) => string;
  /** Another block's name in place of one. */
  otherHash: (hash: string) => string;
  rangesBlocksMax: readonly number[];
  settings: object;
  /** Where owners are paid; an address is written as its family does. */
  wallets: readonly string[];
  otherWallet: string;
  hexOf: (address: string) => string;
};

const catalogue = openCatalogue();

/** A chain's tokens as its nodes name them, links' first. */
const tokensOf = (
  [first, ...others]: readonly [string, ...string[]],
  hexOf: (address: string) => string,
): ChainKind["tokens"] => {
  const tokenOf = (id: string): Token => {
    const address = catalogue.findToken(id)?.address;
    if (address === undefined) throw new RangeError(`no token ${id}`);
    return { id, address, hex: hexOf(address) };
  };
  return [tokenOf(first), ...others.map(tokenOf)];
};

const chainOf = (chainId: string) => {
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
const hexName = (text: string): string => `0x${createHash("sha256").update(text).digest("hex")}`;

const evm = {
  payers: ["1", "2", "3"].map((digit) => `0x${digit.repeat(40)}`),
  forger: `0x${"f".repeat(40)}`,
  nameBlock: hexName,
  nameTransaction: hexName,
  otherHash: (hash: string) => `0xbad${hash.slice(5)}`,
  rangesBlocksMax: [3, 50],
  settings: {},
};

export const base: ChainKind = {
  ...evm,
  chainId: "8453",
  chainType: "EVM",
  nodeChainId: "8453",
  tokens: tokensOf(["usdc-base", "eurc-base"], lowercase),
  erc20Proxy: lowercase(chainOf("8453").feeProxies?.erc20 ?? ""),
  wallets,
  otherWallet,
  hexOf: lowercase,
};

export const tron: ChainKind = {
  ...evm,
  chainId: "tron",
  chainType: "TVM",
  nodeChainId: chainOf("tron").caip2.replace("tron:", ""),
  tokens: tokensOf(["usdt-tron"], tronToHex),
  erc20Proxy: tronToHex(chainOf("tron").feeProxies?.erc20 ?? ""),
  wallets: wallets.map(tronFromHex),
  otherWallet: tronFromHex(otherWallet),
  hexOf: tronToHex,
};

/** Some address of Solana: the hash of its name. */
const keyOf = (name: string): string => solanaReference(Buffer.from(name).toString("hex"));

export const solana: ChainKind = {
  chainId: "solana",
  chainType: "SVM",
  nodeChainId: "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d",
  tokens: tokensOf(["usdc-solana", "eurc-solana", "usdt-solana", "pyusd-solana"], String),
  erc20Proxy: "",
  payers: ["payer 1", "payer 2", "payer 3"].map(keyOf),
  forger: keyOf("forger"),
  nameBlock: keyOf,
  // 64 bytes are as long as two keys.
  nameTransaction: (text) => `${keyOf(text)}${keyOf(`${text}, second half`)}`,
  otherHash: (hash) => `bad${hash.slice(3)}`,
  rangesBlocksMax: [50, 9_000],
  settings: { auditBlocksMin: 5 },
  wallets: ["shop 0", "shop 1", "shop 2", "shop 3"].map(keyOf),
  otherWallet: keyOf("nobody's"),
  hexOf: String,
};

/** The program that keeps a token's accounts on Solana. */
export const programOfToken = (id: string): string =>
  solanaTokenPrograms[catalogue.findToken(id)?.tokenProgram ?? "token"];
