import type { ReferencedLink } from "./payment-reference.ts";
import type { TokenProgram } from "./solana/token-account.ts";

/** The contracts through which payments identify their links. */
type FeeProxies = {
  /** The address of Request Network's ERC20FeeProxy, in the form of the chain's family. */
  erc20: string;
  /** The address of its EthereumFeeProxy for native coins, or null if the chain has none. */
  ethereum: string | null;
};

/** The fields of a catalogue token that determine how it is paid. */
type RequestedToken = {
  /** In the canonical form of the chain's family. */
  address: string;
  isNative: boolean;
  /** Whether an allowance must be reset to 0 before it can change. */
  approveResetsFirst?: boolean | undefined;
  /** Present if `transfer` accepts extra bytes after its arguments. */
  takesSuffix?: object | undefined;
  /** Defaults to `token`. */
  tokenProgram?: TokenProgram | undefined;
  chain: { feeProxies?: FeeProxies | undefined };
};

/** One payment of a link, for which a family builds instructions. */
export type PaymentRequest = {
  link: ReferencedLink & { id: string };
  token: RequestedToken;
  /** In whole tokens, as a plain decimal without exponent or trailing zeros. */
  amount: string;
  /** The same amount in the token's base units. */
  amountBaseUnits: bigint;
  /** The owner's name, as the payer's wallet shows it. */
  label: string;
  /** The link's description, as the payer's wallet shows it. */
  message?: string | undefined;
  /** Whether a direct transfer of this amount with a suffix is found (rule CHAIN-22). */
  isSuffixFound: boolean;
};
