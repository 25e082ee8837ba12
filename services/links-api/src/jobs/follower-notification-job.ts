import type { BackgroundJob } from "@payment-links/process";
import type { Dependencies } from "../dependencies.ts";
import { parseFollowedKey } from "../domain/followed-link.ts";
import { findChangedFingerprints } from "../store/link-fingerprints.ts";

const linksPerQueryMax = 1_000;
/** They are read together. */
const concurrentReadsMax = 100;

/**
 * Looks, once a second, whether a link that somebody follows has changed, and tells those who follow it.
 * It costs nothing while nobody follows.
 */
export const createFollowerNotificationJob = (
  dependencies: Pick<Dependencies, "clock" | "counters" | "eventStreams" | "log" | "pool">,
): BackgroundJob => ({
  name: "followed links",
  waitMs: 1_000,
  run: async () => {
    try {
      for (const links of splitIntoChunks(
        dependencies.eventStreams.listFingerprints(),
        linksPerQueryMax,
      )) {
        const followedLinks = links.map((link) => ({ ...link, ...parseFollowedKey(link.key) }));
        const changedLinks = await findChangedFingerprints(
          dependencies.pool,
          followedLinks,
          dependencies.clock.now(),
        );
        for (const batch of splitIntoChunks(changedLinks, concurrentReadsMax)) {
          await Promise.all(batch.map(({ key }) => notifyFollowers(dependencies, key)));
        }
      }
    } catch (error) {
      dependencies.counters.countFailedRead();
      throw error;
    }
  },
});

/** One link that cannot be read keeps nothing from those who follow another; it is tried again. */
const notifyFollowers = async (
  { counters, eventStreams, log }: Pick<Dependencies, "counters" | "eventStreams" | "log">,
  key: string,
): Promise<void> => {
  try {
    await eventStreams.publishUpdate(key);
  } catch (error) {
    counters.countFailedRead();
    log.error({ err: error, key }, "a followed link cannot be read");
  }
};

const splitIntoChunks = <Item>(items: readonly Item[], size: number): (readonly Item[])[] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
