import { startLoop, systemClock } from "@payment-links/runtime";
import { findBtcd } from "@payment-links/local-chains/bitcoin/find-btcd";
import { startBitcoinChain } from "@payment-links/local-chains/bitcoin/start-bitcoin-chain";
import type { LocalChain, LocalChainOptions } from "./local-chain.ts";
import { createConfirmationMiner } from "./confirmation-miner.ts";

const blockMs = 1_000;

/**
 * Starts the local Bitcoin chain, which is btcd's regtest chain. It mines a block each second while
 * one of the newest blocks contains a payment. Throws if btcd is not installed.
 */
export const startLocalBitcoin = async ({
  port,
  stateFile,
  log,
}: LocalChainOptions): Promise<LocalChain> => {
  const program = findBtcd();
  if (program === undefined) throw new Error("btcd is not installed");
  const chain = await startBitcoinChain({
    program,
    log,
    ...(port === undefined ? {} : { port }),
    ...(stateFile === undefined ? {} : { journalFile: stateFile }),
  });
  const miningLoop = startLoop({
    name: "mine-bitcoin",
    clock: systemClock,
    log,
    waitMs: blockMs,
    run: createConfirmationMiner(chain),
  });
  let closing: Promise<void> | undefined;
  return {
    chainId: "local-bitcoin",
    url: chain.url,
    pay: async ({ destination, amountBaseUnits }) => {
      const txid = await chain.pay({ to: destination, amount: amountBaseUnits });
      miningLoop.wake();
      return txid;
    },
    close: () => (closing ??= miningLoop.stop().then(() => chain.close())),
  };
};
