import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { keccak256Hex } from "../keccak.ts";
import type { ReferencedLink } from "../payment-reference.ts";

/** Returns the hash of the text of a link's own address, as 0x-prefixed hex. */
export const hashDestinationAddress = ({
  destinationAddress,
}: Pick<ReferencedLink, "destinationAddress">): string =>
  keccak256Hex(bytesToHex(utf8ToBytes(destinationAddress)));
