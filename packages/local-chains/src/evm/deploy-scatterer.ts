import { type Hex, encodeFunctionData, parseAbi } from "viem";
import { compileContracts } from "./compile-contracts.ts";
import type { LocalEvmChain } from "./start-evm-chain.ts";

const abi = parseAbi([
  "function scatter(address token, address[] named, uint256 strangerCount, uint256 value)",
]);
const gas = "0x1c9c380";

/** Deploys a contract that can send the test USDC to many accounts in one transaction. */
export const deployScatterer = async (chain: LocalEvmChain) => {
  const bytecodes = await compileContracts(new URL("contracts/scatterer.sol", import.meta.url));
  const [from] = chain.payers;
  const hash = await chain.callRpc("eth_sendTransaction", [
    { from, gas, data: bytecodes["Scatterer"] },
  ]);
  await chain.mine();
  const receipt = await chain.client.getTransactionReceipt({ hash: hash as Hex });
  const to = receipt.contractAddress;
  if (to === null || to === undefined) throw new Error("the scatterer was not deployed");
  return {
    /** Sends the transaction without mining it. */
    scatter: async (
      recipients: readonly string[],
      otherRecipientCount: number,
      value: bigint,
    ): Promise<void> => {
      const args = [
        chain.getTokenAddress("usdc"),
        recipients as Hex[],
        BigInt(otherRecipientCount),
        value,
      ] as const;
      const data = encodeFunctionData({ abi, args });
      await chain.callRpc("eth_sendTransaction", [{ from, to, gas, data }]);
    },
  };
};
