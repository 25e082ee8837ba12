import { randomBytes } from "node:crypto";
import { Address } from "@scure/btc-signer";
import { regtest } from "./wallet.ts";

/** An address of nobody's, as each link has its own. */
export const freshBitcoinAddress = (): string =>
  Address(regtest).encode({ type: "wpkh", hash: new Uint8Array(randomBytes(20)) });
