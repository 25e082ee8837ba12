import type { RefundRequest, RefundTransfer } from "../refund-transfer.ts";
import { buildBitcoinUri } from "./payment-uri.ts";

/** Builds a payment request (BIP 21), because Bitcoin wallets are not in a browser. */
export const buildBitcoinRefund = ({
  amount,
  destinationAddress: address,
}: RefundRequest): RefundTransfer => ({
  wallet: "none",
  uri: buildBitcoinUri({ address, amount }),
});
