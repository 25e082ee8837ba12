import type { Hex } from "viem";
import { buildBitcoinUri } from "./bitcoin/payment-uri.ts";
import type { ChainType } from "./chain-types.ts";
import { encodeTransfer } from "./evm/calldata.ts";
import { tronAddressToHex } from "./tron/address.ts";
import { type TronCall, buildTronCall } from "./tron/tron-call.ts";

/** A plain transfer to the sender of a payment. The address is in the family's canonical form. */
type RefundRequest = {
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

const builders: Readonly<Record<ChainType, (request: RefundRequest) => RefundTransfer>> = {
  EVM: ({ token, destinationAddress, amountBaseUnits }) => ({
    wallet: "EIP-1193",
    chain: getReference(token.chain),
    call: token.isNative
      ? { to: destinationAddress, value: amountBaseUnits, data: "0x" }
      : {
          to: token.address,
          value: 0n,
          data: encodeTransfer({ to: toHex(destinationAddress), amount: amountBaseUnits }),
        },
  }),
  TVM: ({ token, destinationAddress, amountBaseUnits }) => {
    const to = tronAddressToHex(destinationAddress) as Hex;
    const data = encodeTransfer({ to, amount: amountBaseUnits });
    return {
      wallet: "TronWeb",
      chain: getReference(token.chain),
      call: { to: token.address, value: 0n, data, tron: buildTronCall("transfer", data) },
    };
  },
  SVM: ({ token }) => ({
    wallet: "wallet-standard",
    chain: walletStandardChains[token.chain.id] ?? "solana:localnet",
  }),
  BVM: ({ amount, destinationAddress: address }) => ({
    wallet: "none",
    uri: buildBitcoinUri({ address, amount }),
  }),
};

/** Builds what a wallet needs to send a refund on a chain of this family. */
export const buildRefund = (chainType: ChainType, request: RefundRequest): RefundTransfer =>
  builders[chainType](request);

/** The names of Solana's clusters in the Wallet Standard (`@solana/wallet-standard-chains`). */
const walletStandardChains: Readonly<Record<string, string>> = {
  solana: "solana:mainnet",
  "solana-devnet": "solana:devnet",
};

/** Returns the part of a CAIP-2 id that identifies the chain within its family. */
const getReference = ({ caip2 }: { caip2: string }): string => caip2.slice(caip2.indexOf(":") + 1);

const toHex = (address: string): Hex => `0x${address.slice(2)}`;
