import { startLoop, systemClock } from "@payment-links/runtime";
import { startSolanaChain } from "@payment-links/local-chains/solana/start-solana-chain";
import type { LocalChain, LocalChainOptions } from "./local-chain.ts";

/** The same as on mainnet. */
const slotMs = 400;
/** Fewer slots than on mainnet, so that a payment is final within seconds. */
const finalizedLag = 8;

/**
 * Starts the local Solana chain in this process: Solana's VM behind a simulated node. It produces
 * blocks while a transaction is pending or not final. An idle chain does not grow.
 */
export const startLocalSolana = async ({
  port,
  stateFile,
  log,
}: LocalChainOptions): Promise<LocalChain> => {
  const chain = await startSolanaChain({
    finalizedLag,
    ...(port === undefined ? {} : { port }),
    ...(stateFile === undefined ? {} : { journalFile: stateFile }),
  });
  const miningLoop = startLoop({
    name: "mine-solana",
    clock: systemClock,
    log,
    waitMs: slotMs,
    run: async () => void (chain.hasUnfinalizedTransactions() && chain.mine()),
  });
  let closing: Promise<void> | undefined;
  return {
    chainId: "local-solana",
    url: chain.url,
    pay: async ({ destination, tokenAddress, amountBaseUnits, reference }) => {
      const token = [...chain.tokens.values()].find(({ mint }) => mint === tokenAddress);
      if (token === undefined)
        throw new Error(`Local Solana does not have the token ${tokenAddress}`);
      const references = reference === undefined ? [] : [reference];
      const payment = { to: destination, amount: amountBaseUnits, references };
      const signature = await chain.pay({ ...payment, token: token.name });
      if (chain.findSlot(signature) === undefined) chain.mine();
      if (chain.findSlot(signature) === undefined) throw new Error("no block included the payment");
      return signature;
    },
    close: () => (closing ??= miningLoop.stop().then(() => chain.close())),
  };
};
