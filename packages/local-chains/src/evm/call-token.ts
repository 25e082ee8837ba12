import { type Hex, encodeFunctionData, encodeFunctionResult, erc20Abi } from "viem";

const decimalsCall = encodeFunctionData({ abi: erc20Abi, functionName: "decimals" });

/** Returns the result of a call to a token contract: its decimals, or its symbol for other calls. */
export const callToken = (
  { decimals, symbol }: { decimals: number; symbol: string },
  callData: string,
): Hex =>
  callData.startsWith(decimalsCall)
    ? encodeFunctionResult({ abi: erc20Abi, functionName: "decimals", result: decimals })
    : encodeFunctionResult({ abi: erc20Abi, functionName: "symbol", result: symbol });
