import * as z from "zod";
import { ChainType } from "./account.ts";

const FeeProxies = z.object({
  /** Request Network's ERC20FeeProxy, in the form of its chain's family. */
  erc20: z.string(),
  /** Its EthereumFeeProxy, for native coins; null where there is none. */
  ethereum: z.string().nullable(),
  /** No payment through them is older than this block. */
  firstBlock: z.int().nonnegative(),
});

/** What is looked up stands in place of `{}`. */
const urlPathTemplate = z.string().regex(/^\/[\w/#-]*\{\}(?:\?[\w=&-]+)?$/);

const Explorer = z.object({
  url: z.string().regex(/^https:\/\/[\w.-]+(?:\/[\w-]+)*$/),
  /** Where below it a transaction and an address are; the paths of EIP-3091 where not given. */
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
  // It appears in paths and records.
  id: z.string().regex(/^[\w-]{1,40}$/),
  name: z.string().min(1),
  symbol: z.string().min(1),
  chainType: ChainType,
  caip2: z.string().min(3),
  /**
   * The contracts through which a payer names the link, on EVM and Tron. Without them no link is paid on
   * such a chain.
   */
  feeProxies: FeeProxies.optional(),
  /** Whether its coin and tokens are worth nothing: pages say so. */
  isTestNetwork: z.boolean().optional(),
  /**
   * A public node, which the page gives to a wallet that lacks the network. The checkout page of such a chain lets
   * a wallet ask it from within the page. It stands in pages, so it is no node with a key.
   */
  publicRpcUrl: z.url({ protocol: /^https?$/ }).optional(),
  /**
   * The nodes that wallets ask from within the page that they pay on. The checkout page of such a chain lets
   * these and the public node be asked, and no others.
   */
  walletNodes: WalletNodes.optional(),
  /** Where people look a transaction up; pages lead there and load nothing from it. */
  explorer: Explorer.optional(),
});

const Token = z.object({
  id: z.string().min(1).max(64),
  chainId: z.string(),
  /**
   * In the one form of its family. A coin has none: on EVM chains it stands under
   * 0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE by convention, elsewhere under its chain's symbol.
   */
  address: z.string().min(1),
  decimals: z.int().min(0).max(36),
  symbol: z.string().min(1),
  name: z.string().min(1),
  isNative: z.boolean(),
  isStablecoin: z.boolean(),
  currencyCode: z.string().nullable(),
  commodityCode: z.string().nullable(),
  /** Whether an allowance must go back to 0 before it can be set anew, as with USDT on Ethereum. */
  approveResetsFirst: z.boolean().optional(),
  /**
   * How it is known that its `transfer` takes bytes behind its arguments, on EVM chains: such a transfer
   * may name its link by them. No entry loses it, as what was paid so is proved by it once more.
   */
  takesSuffix: z.object({ source: z.string().min(1), verifiedOn: z.iso.date() }).optional(),
  /** Which program of Solana keeps its accounts; that of the first tokens where not given. */
  tokenProgram: z.enum(["token", "token-2022"]).optional(),
  /**
   * On EVM chains and Tron, the id of the chain's token that this one is mistaken for, as a bridged USDC is for
   * Circle's. Links never take it: a payment in it is recognized, and shown as a wrong token (rule CHAIN-27).
   */
  lookalikeOf: z.string().min(1).max(64).optional(),
  source: z.string().min(1),
  verifiedOn: z.iso.date(),
});

/** The form of the catalogue: chains, and the tokens on them with where and when each was verified. */
export const CatalogueData = z.object({ chains: z.array(Chain), tokens: z.array(Token) });
export type CatalogueData = z.output<typeof CatalogueData>;
export type CatalogueChain = z.output<typeof Chain>;
