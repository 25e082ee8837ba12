import { join } from "node:path";
import { startEvmChain } from "@payment-links/local-chains/evm/start-evm-chain";
import { fewLinks, readFinalBlockNumber, createWatchShop, payMany } from "../bench/watch.ts";
import { recordProfile } from "./record-profile.ts";

/**
 * Profiles a watcher while it catches up with 10,000 final blocks. The watcher runs in this
 * process. The only other work of this process is to check whether the watcher has caught up.
 */
export const profileWatch = async (
  directory: string,
): Promise<{ blocksPerSecond: number; files: string[] }> => {
  const chain = await startEvmChain({ slotsInEpoch: 1 });
  const shop = await createWatchShop(chain, fewLinks);
  try {
    const payments = await payMany(chain, shop.references);
    const work = { payments, head: await readFinalBlockNumber(chain) };
    await shop.catchUp(work);
    const writeProfile = await recordProfile();
    const tookMs = await shop.catchUp(work);
    const path = join(directory, `settlement-listener-${process.pid}.cpuprofile`);
    await writeProfile(path);
    return { blocksPerSecond: Math.round(work.head / (tookMs / 1_000)), files: [path] };
  } finally {
    await shop.close();
    await chain.close();
  }
};
