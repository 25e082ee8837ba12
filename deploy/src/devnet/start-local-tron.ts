import { tronAddressToHex } from "@payment-links/chains/tron-address";
import { startTronNode } from "@payment-links/local-chains/tron/start-tron-node";
import type { LocalChain, LocalChainOptions } from "./local-chain.ts";
import { localTronChainId } from "./local-seeds.ts";
import { createCallPayer } from "./create-call-payer.ts";
import { startDevnet } from "./start-devnet.ts";

/** The devnet mines four blocks after each transaction. */
const finalizedLag = 3;

/**
 * Starts the local Tron chain: an EVM node with the devnet's contracts, behind a proxy that
 * implements java-tron's API. Other parts of Tron are not simulated.
 */
export const startLocalTron = async ({
  port,
  stateFile,
  log,
}: LocalChainOptions): Promise<LocalChain> => {
  const evm = await startDevnet({
    chainId: String(localTronChainId),
    log,
    ...(stateFile === undefined ? {} : { stateFile }),
  });
  const proxyOptions = { target: evm.url, finalizedLag, ...(port === undefined ? {} : { port }) };
  const tronProxy = await startTronNode(proxyOptions).catch(async (error: unknown) => {
    await evm.close();
    throw error;
  });
  const pay = createCallPayer(evm.url);
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await tronProxy.close();
    await evm.close();
  };
  return {
    chainId: "local-tron",
    url: tronProxy.url,
    // The EVM node identifies contracts by the 20 bytes that a Tron address contains.
    pay: ({ tokenAddress, amountBaseUnits, calls = [] }) =>
      pay({
        token: toHexAddress(tokenAddress),
        amountBaseUnits,
        calls: calls.map((call) => ({ ...call, to: toHexAddress(call.to) })),
      }),
    close: () => (closing ??= close()),
  };
};

const toHexAddress = (address: string) => tronAddressToHex(address) as `0x${string}`;
