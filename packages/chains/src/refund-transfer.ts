import type { Hex } from "viem";
import type { TronCall } from "./tron/tron-call.ts";

/** A plain transfer to the sender of a payment. The address is in the family's canonical form. */
export type RefundRequest = {
  token: { address: string; isNative: boolean; chain: { id: string; caip2: string } };
  destinationAddress: string;
  amountBaseUnits: bigint;
  /** In whole tokens, as a plain decimal. */
  amount: string;
};

/** The call of a contract, or on EVM chains a transfer of coins. */
type RefundCall = { to: string; value: bigint; data: Hex; tron?: TronCall };

/**
 * What a wallet needs to send a refund, by the interface of the wallets in a browser. `chain` is the
 * chain as this interface names it. The transaction of a `wallet-standard` wallet depends on the
 * state of the chain, so it is not built here.
 */
export type RefundTransfer =
  | { wallet: "EIP-1193" | "TronWeb"; chain: string; call: RefundCall }
  | { wallet: "wallet-standard"; chain: string }
  | { wallet: "none"; uri: string };

/** Returns the part of a CAIP-2 id that identifies the chain within its family. */
export const getChainReference = ({ caip2 }: { caip2: string }): string =>
  caip2.slice(caip2.indexOf(":") + 1);
