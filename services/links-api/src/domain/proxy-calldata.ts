import { concat, encodeFunctionData, erc20Abi, parseAbi, zeroAddress } from "viem";
import type { Address, Hex } from "viem";

/** Request Network's fee proxies, as far as payers call them. */
const erc20FeeProxyAbi = parseAbi([
  "function transferFromWithReferenceAndFee(address tokenAddress, address to, uint256 amount, bytes paymentReference, uint256 feeAmount, address feeAddress)",
]);
const ethereumFeeProxyAbi = parseAbi([
  "function transferWithReferenceAndFee(address to, bytes paymentReference, uint256 feeAmount, address feeAddress) payable",
]);

/** The proxy holds nothing back: the owner receives what the payer pays. */
const noFee = [0n, zeroAddress] as const;

type Transfer = { to: Address; amount: bigint; reference: Hex };

/** The calldata by which a payer lets a spender take exactly so many base units of a token. */
export const encodeApprove = (spender: Address, amount: bigint): Hex =>
  encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [spender, amount] });

/** The calldata by which a payer has the ERC20FeeProxy move a token to a link's destination. */
export const encodeTokenPayment = (token: Address, { to, amount, reference }: Transfer): Hex =>
  encodeFunctionData({
    abi: erc20FeeProxyAbi,
    functionName: "transferFromWithReferenceAndFee",
    args: [token, to, amount, reference, ...noFee],
  });

/** The calldata by which a payer has the EthereumFeeProxy hand on the coins that are sent with it. */
export const encodeNativePayment = ({ to, reference }: Omit<Transfer, "amount">): Hex =>
  encodeFunctionData({
    abi: ethereumFeeProxyAbi,
    functionName: "transferWithReferenceAndFee",
    args: [to, reference, ...noFee],
  });

/**
 * The calldata by which a payer sends a token straight to a link's destination, with the reference behind
 * its arguments: tokens that take a suffix do not look at it.
 */
export const encodeSuffixTransfer = ({ to, amount, reference }: Transfer): Hex =>
  concat([
    encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [to, amount] }),
    reference,
  ]);
