import { keccak256Hex } from "@payment-links/chains";

/** A log as a node returns it, without its position in a block. */
export type ChainLog = { address: string; topics: readonly string[]; data: string };

const hashSignature = (signature: string): string =>
  keccak256Hex(Buffer.from(signature).toString("hex"));
/** The first topic of the fee proxy's event. */
export const proxyTopic = hashSignature(
  "TransferWithReferenceAndFee(address,address,uint256,bytes,uint256,address)",
);
const transferTopic = hashSignature("Transfer(address,address,uint256)");

/** Encodes a number or an address as 32 bytes in hex, without a prefix. */
export const encodeWord = (value: string | number): string => {
  const hex = typeof value === "number" ? value.toString(16) : value.replace(/^0x/, "");
  return hex.toLowerCase().padStart(64, "0");
};

/** Returns the token contract's log of a transfer. */
export const createTransferLog = (transfer: {
  token: string;
  from: string;
  to: string;
  baseUnits: number;
}): ChainLog => ({
  address: transfer.token,
  topics: [transferTopic, `0x${encodeWord(transfer.from)}`, `0x${encodeWord(transfer.to)}`],
  data: `0x${encodeWord(transfer.baseUnits)}`,
});

/** Returns the fee proxy's log of a payment. It names the link but does not prove the payment. */
export const createProxyLog = (payment: {
  proxy: string;
  token: string;
  to: string;
  baseUnits: number;
  referenceHash: string;
}): ChainLog => ({
  address: payment.proxy,
  topics: [proxyTopic, payment.referenceHash],
  data: `0x${[payment.token, payment.to, payment.baseUnits, 0, 0].map(encodeWord).join("")}`,
});
