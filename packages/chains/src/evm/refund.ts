import { type RefundRequest, type RefundTransfer, getChainReference } from "../refund-transfer.ts";
import { toHex } from "./address.ts";
import { encodeTransfer } from "./calldata.ts";

/** Builds the transfer of a token, or of the chain's coin. */
export const buildEvmRefund = ({
  token,
  destinationAddress,
  amountBaseUnits,
}: RefundRequest): RefundTransfer => ({
  wallet: "EIP-1193",
  chain: getChainReference(token.chain),
  call: token.isNative
    ? { to: destinationAddress, value: amountBaseUnits, data: "0x" }
    : {
        to: token.address,
        value: 0n,
        data: encodeTransfer({ to: toHex(destinationAddress), amount: amountBaseUnits }),
      },
});
