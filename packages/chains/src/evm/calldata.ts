import { concat, encodeFunctionData, erc20Abi, parseAbi, zeroAddress } from "viem";
import type { Address, Hex } from "viem";

/** The functions of Request Network's fee proxies that payers call. */
const erc20FeeProxyAbi = parseAbi([
  "function transferFromWithReferenceAndFee(address tokenAddress, address to, uint256 amount, bytes paymentReference, uint256 feeAmount, address feeAddress)",
]);
const ethereumFeeProxyAbi = parseAbi([
  "function transferWithReferenceAndFee(address to, bytes paymentReference, uint256 feeAmount, address feeAddress) payable",
]);

/** The proxy does not charge a fee, so the owner receives the full payment. */
const noFee = [0n, zeroAddress] as const;

type Transfer = { to: Address; amount: bigint; reference: Hex };

/** Encodes the call that lets a spender transfer exactly this amount of a token, in base units. */
export const encodeApprove = (spender: Address, amount: bigint): Hex =>
  encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [spender, amount] });

/** Encodes the ERC20FeeProxy call that moves a token from the payer to a link's destination. */
export const encodeTokenPayment = (token: Address, { to, amount, reference }: Transfer): Hex =>
  encodeFunctionData({
    abi: erc20FeeProxyAbi,
    functionName: "transferFromWithReferenceAndFee",
    args: [token, to, amount, reference, ...noFee],
  });

/** Encodes the EthereumFeeProxy call that forwards the coins sent with it. */
export const encodeNativePayment = ({ to, reference }: Omit<Transfer, "amount">): Hex =>
  encodeFunctionData({
    abi: ethereumFeeProxyAbi,
    functionName: "transferWithReferenceAndFee",
    args: [to, reference, ...noFee],
  });

/**
 * Encodes a direct token transfer to a link's destination, with the payment reference appended to
 * the arguments. Token contracts that accept such a suffix ignore it.
 */
export const encodeSuffixTransfer = ({ to, amount, reference }: Transfer): Hex =>
  concat([encodeTransfer({ to, amount }), reference]);

/** Encodes a plain token transfer. */
export const encodeTransfer = ({ to, amount }: Omit<Transfer, "reference">): Hex =>
  encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [to, amount] });
