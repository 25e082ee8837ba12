import { tronToHex } from "@payment-links/contracts";
import { openTronFront } from "@payment-links/settlement-listener/testing/open-tron-front";
import type { LocalChain, LocalChainOptions } from "./local-chain.ts";
import { localTronNumber } from "./local-seeds.ts";
import { openCallPayer } from "./open-call-payer.ts";
import { openDevnet } from "./open-devnet.ts";

/** The devnet mines four blocks behind each transaction. */
const finalizedLag = 3;

/**
 * Starts the local Tron: an EVM node with the same contracts as the devnet, behind a front that speaks
 * java-tron's dialect, which is all of Tron that there is.
 */
export const openLocalTron = async ({
  port,
  stateFile,
  log,
}: LocalChainOptions): Promise<LocalChain> => {
  const evm = await openDevnet({
    chainId: String(localTronNumber),
    log,
    ...(stateFile === undefined ? {} : { stateFile }),
  });
  const range = { target: evm.url, finalizedLag, ...(port === undefined ? {} : { port }) };
  const front = await openTronFront(range).catch(async (error: unknown) => {
    await evm.close();
    throw error;
  });
  const pay = openCallPayer(evm.url);
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await front.close();
    await evm.close();
  };
  return {
    chainId: "local-tron",
    url: front.url,
    // The node behind the front knows contracts by the 20 bytes that Tron's addresses are made of.
    pay: ({ tokenAddress, amountBaseUnits, calls = [] }) =>
      pay({
        token: hexOf(tokenAddress),
        amountBaseUnits,
        calls: calls.map((call) => ({ ...call, to: hexOf(call.to) })),
      }),
    close: () => (closing ??= close()),
  };
};

const hexOf = (address: string) => tronToHex(address) as `0x${string}`;
