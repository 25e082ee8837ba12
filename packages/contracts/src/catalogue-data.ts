import * as z from "zod";
import { ChainType } from "./account.ts";

const FeeProxies = z.object({
  /** The address of Request Network's ERC20FeeProxy, in the form of the chain's family. */
  erc20: z.string(),
  /** The address of its EthereumFeeProxy for native coins, or null if the chain has none. */
  ethereum: z.string().nullable(),
  /** The first block that can contain a payment through the proxies. */
  firstBlock: z.int().nonnegative(),
});

/** A URL path in which `{}` stands for the transaction hash or the address. */
const urlPathTemplate = z.string().regex(/^\/[\w/#-]*\{\}(?:\?[\w=&-]+)?$/);

const Explorer = z.object({
  url: z.string().regex(/^https:\/\/[\w.-]+(?:\/[\w-]+)*$/),
  /** The paths of transactions and addresses below `url`. Defaults to the paths of EIP-3091. */
  paths: z.object({ transactions: urlPathTemplate, addresses: urlPathTemplate }).optional(),
  source: z.string().min(1),
  verifiedOn: z.iso.date(),
});

const WalletNodes = z.object({
  origins: z
    .array(z.url({ protocol: /^https?$/ }).refine((url) => URL.parse(url)?.origin === url))
    .min(1)
    .max(8),
  source: z.string().min(1),
  verifiedOn: z.iso.date(),
});

const Chain = z.object({
  // Paths and records contain the id.
  id: z.string().regex(/^[\w-]{1,40}$/),
  name: z.string().min(1),
  symbol: z.string().min(1),
  chainType: ChainType,
  caip2: z.string().min(3),
  /**
   * The contracts through which a payment identifies its link, on EVM and Tron. Links on such a
   * chain cannot be paid without them.
   */
  feeProxies: FeeProxies.optional(),
  /** Whether the chain's coin and tokens have no value. Pages show this. */
  isTestNetwork: z.boolean().optional(),
  /**
   * A public node that the page offers to a wallet that lacks the network. The checkout page of
   * such a chain also allows a wallet to query this node from within the page. Pages contain the
   * URL, so it must not include an access key.
   */
  publicRpcUrl: z.url({ protocol: /^https?$/ }).optional(),
  /**
   * The nodes that wallets query from within the checkout page. The page of such a chain allows
   * requests only to these nodes and to the public node.
   */
  walletNodes: WalletNodes.optional(),
  /** The block explorer that pages link to. Pages do not load anything from it. */
  explorer: Explorer.optional(),
});

const Token = z.object({
  id: z.string().min(1).max(64),
  chainId: z.string(),
  /**
   * The address in the canonical form of its family. A coin has no address. By convention, EVM
   * chains use 0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE for it, and other chains use the chain's
   * symbol.
   */
  address: z.string().min(1),
  decimals: z.int().min(0).max(36),
  symbol: z.string().min(1),
  name: z.string().min(1),
  isNative: z.boolean(),
  isStablecoin: z.boolean(),
  currencyCode: z.string().nullable(),
  commodityCode: z.string().nullable(),
  /** Whether an allowance must be reset to 0 before it can change, as with USDT on Ethereum. */
  approveResetsFirst: z.boolean().optional(),
  /**
   * The evidence that `transfer` accepts extra bytes after its arguments, on EVM chains. Such a
   * transfer can identify its link in those bytes. Never remove this field from an entry, because
   * it is also needed to verify earlier payments.
   */
  takesSuffix: z.object({ source: z.string().min(1), verifiedOn: z.iso.date() }).optional(),
  /**
   * The Solana program that manages the token's accounts. Defaults to `token`, the original
   * program.
   */
  tokenProgram: z.enum(["token", "token-2022"]).optional(),
  /**
   * On EVM chains and Tron, the id of the token on the same chain that payers mistake this one for,
   * such as Circle's USDC for a bridged USDC. Links never accept a token with this field. A payment
   * in such a token is recognized and shown as a wrong token (rule CHAIN-27).
   */
  lookalikeOf: z.string().min(1).max(64).optional(),
  source: z.string().min(1),
  verifiedOn: z.iso.date(),
});

/**
 * The schema of the catalogue: chains and their tokens, each with the source and date of its
 * verification.
 */
export const CatalogueData = z.object({ chains: z.array(Chain), tokens: z.array(Token) });
export type CatalogueData = z.output<typeof CatalogueData>;
export type CatalogueChain = z.output<typeof Chain>;
