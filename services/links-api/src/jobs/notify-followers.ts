import type { BackgroundJob } from "@payment-links/process";
import type { Dependencies } from "../dependencies.ts";
import { parseFollowedKey } from "../domain/followed-link.ts";
import { findChangedFingerprints } from "../store/link-fingerprints.ts";

const linksPerQueryMax = 1_000;
/** The maximum number of links that are read concurrently. */
const concurrentReadsMax = 100;

/**
 * Checks once a second whether followed links have changed, and sends the changes to their streams.
 * Does not query the database while no link is followed.
 */
export const notifyFollowers = (
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
          await Promise.all(batch.map(({ key }) => notifyFollowersOfLink(dependencies, key)));
        }
      }
    } catch (error) {
      dependencies.counters.countFailedRead();
      throw error;
    }
  },
});

/**
 * Sends the current state of a link to its streams. Catches errors, so that one link that cannot be
 * read does not block the updates of other links. The next run retries it.
 */
const notifyFollowersOfLink = async (
  { counters, eventStreams, log }: Pick<Dependencies, "counters" | "eventStreams" | "log">,
  key: string,
): Promise<void> => {
  try {
    await eventStreams.publishUpdate(key);
  } catch (error) {
    counters.countFailedRead();
    log.error({ err: error, key }, "followed link could not be read, retrying");
  }
};

const splitIntoChunks = <Item>(items: readonly Item[], size: number): (readonly Item[])[] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
