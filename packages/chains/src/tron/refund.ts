import type { Hex } from "viem";
import { encodeTransfer } from "../evm/calldata.ts";
import { type RefundRequest, type RefundTransfer, getChainReference } from "../refund-transfer.ts";
import { tronAddressToHex } from "./address.ts";
import { buildTronCall } from "./tron-call.ts";

/** Builds the transfer of a token. */
export const buildTronRefund = ({
  token,
  destinationAddress,
  amountBaseUnits,
}: RefundRequest): RefundTransfer => {
  const to = tronAddressToHex(destinationAddress) as Hex;
  const data = encodeTransfer({ to, amount: amountBaseUnits });
  return {
    wallet: "TronWeb",
    chain: getChainReference(token.chain),
    call: { to: token.address, value: 0n, data, tron: buildTronCall("transfer", data) },
  };
};
