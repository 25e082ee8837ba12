import { keccak256Hex } from "./keccak.ts";

/** The fields of a link by which its payments are recognized. */
export type ReferencedLink = {
  /** 16 random bytes in hex, without 0x. */
  paymentReference: string;
  /** In the canonical form of the chain's family. */
  destinationAddress: string;
};

/** Returns the hash of a link's payment reference, as 0x-prefixed hex. */
export const hashPaymentReference = ({
  paymentReference,
}: Pick<ReferencedLink, "paymentReference">): string => keccak256Hex(paymentReference);
