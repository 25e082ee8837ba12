import { devnet } from "@payment-links/contracts";
import type { LocalChain, LocalChainOptions } from "./local-chain.ts";
import { openCallPayer } from "./open-call-payer.ts";
import { openDevnet } from "./open-devnet.ts";

/** Starts the local EVM chain: a real node with the real fee proxies, and a test dollar. */
export const openLocalEvm = async (options: LocalChainOptions): Promise<LocalChain> => {
  const chain = await openDevnet(options);
  const pay = openCallPayer(chain.url);
  return {
    chainId: devnet.chainId,
    url: chain.url,
    pay: ({ tokenAddress, amountBaseUnits, calls = [] }) =>
      pay({ token: tokenAddress as `0x${string}`, amountBaseUnits, calls }),
    close: () => chain.close(),
  };
};
