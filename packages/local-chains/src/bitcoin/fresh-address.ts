import { randomBytes } from "node:crypto";
import { Address } from "@scure/btc-signer";
import { regtest } from "./wallet.ts";

/** Returns a random address without a known owner. Each link needs an address of its own. */
export const freshBitcoinAddress = (): string =>
  Address(regtest).encode({ type: "wpkh", hash: new Uint8Array(randomBytes(20)) });
