import { type Hex, encodeFunctionData, parseAbi } from "viem";
import { compileContracts } from "./compile-contracts.ts";
import type { Chain } from "./open-chain.ts";

const abi = parseAbi([
  "function scatter(address token, address[] named, uint256 strangerCount, uint256 value)",
]);
const gas = "0x1c9c380";

/** Puts a contract on a chain that sends the test USDC to many in one transaction. */
export const openScatterer = async (chain: Chain) => {
  const codes = await compileContracts(new URL("contracts/scatterer.sol", import.meta.url));
  const [from] = chain.payers;
  const hash = await chain.ask("eth_sendTransaction", [{ from, gas, data: codes["Scatterer"] }]);
  await chain.mine();
  const receipt = await chain.client.getTransactionReceipt({ hash: hash as Hex });
  const to = receipt.contractAddress;
  if (to === null || to === undefined) throw new Error("the scatterer was not deployed");
  return {
    /** The transaction waits for a block. */
    scatter: async (
      named: readonly string[],
      strangerCount: number,
      value: bigint,
    ): Promise<void> => {
      const args = [chain.addressOf("usdc"), named as Hex[], BigInt(strangerCount), value] as const;
      const data = encodeFunctionData({ abi, args });
      await chain.ask("eth_sendTransaction", [{ from, to, gas, data }]);
    },
  };
};
