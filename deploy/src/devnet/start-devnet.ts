import { rm } from "node:fs/promises";
import { devnet } from "@payment-links/contracts";
import type { Log } from "@payment-links/runtime";
import { deployContracts } from "@payment-links/settlement-listener/testing/deploy-contracts";
import { startAnvil } from "@payment-links/settlement-listener/testing/start-anvil";
import { startConfirmationMiner } from "./start-confirmation-miner.ts";
import { promoteDraft, waitForPreviousProcess, getPidFile, getStateArgs } from "./state-file.ts";

/**
 * How many blocks back an account's state can still be asked for; blocks and receipts are all kept.
 */
const statesMax = 256;

/**
 * Two blocks later a block is final. The very first block must not be the last final one: when the
 * node goes on with a kept state, it makes that block anew, under another hash.
 */
const blocksPerEpoch = 1;

/** A chain for development, with the fee proxies and the test USDC on it. */
export type Devnet = {
  /** Its RPC endpoint on loopback; it signs for its well-known accounts, so it is no secret. */
  url: string;
  /** Ends it within a bound, its state kept; more calls do nothing. */
  close(): Promise<void>;
};

/**
 * Starts the development chain (`devnet` of contracts) on the given port of 127.0.0.1 or a free
 * one, with a block for each transaction and a few behind it. With a `stateFile` it continues where it stopped. It ends
 * with this process, even if that is killed. Throws if its programs are not installed.
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
