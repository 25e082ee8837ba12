import type { AddressParseResult } from "./address-parse-result.ts";
import type { ReferencedLink } from "./payment-reference.ts";
import type { WalletApp } from "./wallet-app.ts";

/**
 * What the rest of the product has to know about a chain family. Code outside of the family's
 * folders asks for these properties and never for the family's name.
 */
export type ChainFamily = {
  /** Returns what is wrong with a chain's entry in the catalogue, or undefined if it is valid. */
  findEntryFault: (chain: { id: string; caip2: string }) => string | undefined;
  /**
   * Parses an address as a user entered it and returns its canonical form. Throws if the family
   * does not support the chain.
   */
  parseAddress: (chainId: string, input: string) => AddressParseResult;
  /** Returns a form of an address that is the same for all spellings of the address. */
  foldAddress: (address: string) => string;
  /** Whether every address is 0x and 40 hex digits. */
  hasHexAddresses: boolean;
  /** What the address of a token in the catalogue has to be, for its error message. */
  addressForm: string;
  /**
   * Matches a transaction hash. Its only group is the hash as explorers spell it. Nodes may spell
   * it differently.
   */
  transactionHashPattern: RegExp;
  /** Encodes 64 bytes as a transaction hash. Families with shorter hashes use the first bytes. */
  encodeTransactionHash: (bytes: Uint8Array) => string;

  /** Whether the chain's symbol stands for the address of its coin in the catalogue. */
  isCoinNamedBySymbol: boolean;
  /** Whether chains have tokens besides their coin. */
  hasTokens: boolean;
  /** What can be paid through fee proxies. If not `none`, links need a proxy to be payable. */
  feeProxies: "none" | "tokens" | "tokens and coin";
  /** Whether a token transfer can identify its link by extra bytes after its arguments. */
  hasTransferSuffix: boolean;
  /**
   * Whether programs manage the tokens, in accounts of their own. Such an account looks like a
   * wallet, but money paid to it is lost (rule CHAIN-26).
   */
  hasTokenPrograms: boolean;
  /**
   * Whether payments in a token that payers mistake for an accepted one are found (rule CHAIN-27).
   */
  hasLookalikes: boolean;

  /** The limits of payments, in base units. */
  amounts: {
    /** The smallest amount that one transaction can send. */
    smallest: bigint;
    /** The largest amount that one transaction can send. */
    largest: bigint;
    /**
     * The largest sum that payments can add up to. If omitted, several payments can add up to more
     * than one transaction can send.
     */
    largestSum?: bigint;
  };
  /**
   * Returns the 32 bytes that match a payment on chain to its link, as 0x-prefixed hex. They are
   * the hash of the link's payment reference or, if each link has its own address, of the text of
   * that address.
   */
  computeReferenceHash: (link: ReferencedLink) => string;
  /** Whether a wallet can request the transaction that pays a link in a token (rule CHAIN-23). */
  hasTransactionRequests: boolean;

  /** The interface of the wallets in a browser that pay from within a page. */
  browserWallets: "EIP-1193" | "TronWeb" | "none";
  walletApps: readonly WalletApp[];
  /** Whether a wallet can prove its address by signing a message (EIP-4361). */
  hasSignInMessages: boolean;

  /** Whether the setting `TRANSFER_CHAINS` applies to the chains. */
  hasTransferTracking: boolean;
  /** Whether nodes list the payments of an account, so that accounts are polled, not blocks. */
  isPolledByAccount: boolean;

  /**
   * How each link gets an address of its own, if a payment can only be recognized by its
   * destination. If omitted, links use the address of the owner's wallet.
   */
  linkAddresses?: LinkAddresses;
};

/**
 * How each link gets an address of its own. The wallet of the owner is then a key from which
 * addresses are derived, in the form that {@link LinkAddresses.parseKey} returns. The ids of the
 * chains are fixed. All functions with a chain id throw if the chain is not supported.
 */
export type LinkAddresses = {
  isSupportedChain: (chainId: string) => boolean;
  /** Parses a key as a wallet app exports it. Returns the same key for all of its notations. */
  parseKey: (chainId: string, input: string) => { key: string } | { fault: string };
  /** Returns whether a wallet address is a key and not a single address. */
  isKey: (walletAddress: string) => boolean;
  /**
   * Returns the id of a key's sequence of addresses. It is the same for all keys that derive the
   * same addresses.
   */
  computeKeyId: (chainId: string, key: string) => string;
  /** Derives the addresses of a key from an index on. */
  deriveAddresses: (
    chainId: string,
    key: string,
    range: { startIndex: number; count: number },
  ) => string[];
};
