import { rm } from "node:fs/promises";
import { devnet } from "@payment-links/contracts";
import type { Log } from "@payment-links/runtime";
import { deployContracts } from "@payment-links/local-chains/evm/deploy-contracts";
import { startAnvil } from "@payment-links/local-chains/evm/start-anvil";
import { startConfirmationMiner } from "./start-confirmation-miner.ts";
import { promoteDraft, waitForPreviousProcess, getPidFile, getStateArgs } from "./state-file.ts";

/**
 * The number of recent blocks for which the state of accounts can be queried. Blocks and receipts
 * are never deleted.
 */
const statesMax = 256;

/**
 * A block is final after two more blocks. The genesis block must not be the last final block,
 * because a node that loads a saved state recreates it with a different hash.
 */
const blocksPerEpoch = 1;

/** A development chain with the fee proxies and the test USDC. */
export type Devnet = {
  /**
   * The RPC endpoint on loopback. anvil signs for its well-known accounts, so the URL is not a
   * secret.
   */
  url: string;
  /** Stops the chain within a time limit and saves its state. Further calls do nothing. */
  close(): Promise<void>;
};

/**
 * Starts the development chain (`devnet` in contracts) on the given port of 127.0.0.1, or on a free
 * port. It mines a block for each transaction and a few blocks after it. With a `stateFile`, it
 * continues from the saved state. It stops with this process, even if the process is killed. Throws
 * if its programs are not installed.
 */
export const startDevnet = async ({
  chainId = devnet.chainId,
  port,
  stateFile,
  log,
}: {
  chainId?: string;
  port?: number;
  stateFile?: string;
  log: Log;
}): Promise<Devnet> => {
  if (stateFile !== undefined) {
    await waitForPreviousProcess(stateFile);
    await promoteDraft(stateFile);
  }
  const stateArgs = stateFile === undefined ? [] : await getStateArgs(stateFile);
  const historyArgs = ["--prune-history", String(statesMax)];
  const finalityArgs = ["--slots-in-an-epoch", String(blocksPerEpoch)];
  const flags = ["--chain-id", chainId, ...historyArgs, ...finalityArgs, ...stateArgs];
  const pidFile = stateFile === undefined ? undefined : getPidFile(stateFile);
  const anvil = await startAnvil({ port, flags, pidFile, log });
  let miner: ReturnType<typeof startConfirmationMiner> | undefined;
  const close = async () => {
    await miner?.stop();
    await anvil.close();
    if (stateFile === undefined) return;
    await promoteDraft(stateFile);
    await rm(getPidFile(stateFile), { force: true });
  };
  try {
    await deployContracts(anvil.url);
    miner = startConfirmationMiner(anvil.url, log);
  } catch (error) {
    await close();
    throw error;
  }
  return { url: anvil.url, close };
};
