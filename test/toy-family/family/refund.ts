import type {
  RefundRequest,
  RefundTransfer,
} from "../../../packages/chains/src/refund-transfer.ts";

/** Builds a payment request, because the toy family has no wallets in a browser. */
export const buildTronRefund = ({ amount, destinationAddress }: RefundRequest): RefundTransfer => ({
  wallet: "none",
  uri: `toy:${destinationAddress}?amount=${amount}`,
});
