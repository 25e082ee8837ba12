import { devnet } from "@payment-links/contracts";
import type { LocalChain, LocalChainOptions } from "./local-chain.ts";
import { createCallPayer } from "./create-call-payer.ts";
import { startDevnet } from "./start-devnet.ts";

/**
 * Starts the local EVM chain: anvil with the original fee proxy contracts and a test dollar token.
 */
export const startLocalEvm = async (options: LocalChainOptions): Promise<LocalChain> => {
  const chain = await startDevnet(options);
  const pay = createCallPayer(chain.url);
  return {
    chainId: devnet.chainId,
    url: chain.url,
    pay: ({ tokenAddress, amountBaseUnits, calls = [] }) =>
      pay({ token: tokenAddress as `0x${string}`, amountBaseUnits, calls }),
    close: () => chain.close(),
  };
};
