import { rm } from "node:fs/promises";
import { devnet } from "@payment-links/contracts";
import type { Log } from "@payment-links/runtime";
import { deployContracts } from "@payment-links/settlement-listener/testing/deploy-contracts";
import { startAnvil } from "@payment-links/settlement-listener/testing/start-anvil";
import { startConfirmationMiner } from "./start-confirmation-miner.ts";
import { promoteDraft, waitForPreviousProcess, getPidFile, getStateArgs } from "./state-file.ts";

/** How many blocks back an account's state can be queried; all blocks and receipts are stored. */
const statesMax = 256;

/**
 * A block is final two blocks later. The genesis block must not be the latest final one: a node
 * that resumes from a saved state recreates it with a different hash.
 */
const blocksPerEpoch = 1;

/** A development chain with the fee proxies and the test USDC. */
export type Devnet = {
  /**
   * The RPC endpoint on loopback. It signs for anvil's well-known accounts, so the URL is not a
   * secret.
   */
  url: string;
  /** Stops the chain within a time limit and saves its state. Further calls do nothing. */
  close(): Promise<void>;
};

/**
 * Starts the development chain (`devnet` in contracts) on the given port of 127.0.0.1 or a free
 * one. It mines a block per transaction and a few after it. With a `stateFile` it resumes where it
 * stopped. It ends with this process, even if the process is killed. Throws if its programs are not
 * installed.
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
