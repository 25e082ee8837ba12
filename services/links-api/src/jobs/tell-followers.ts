import type { Job } from "@payment-links/process";
import type { Deps } from "../deps.ts";
import { readFollowedKey } from "../domain/followed-link.ts";
import { findNewMarks } from "../store/link-marks.ts";

const linksAtOnceMax = 1_000;
/** They are read together. */
const looksAtOnceMax = 100;

/**
 * Looks, once a second, whether a link that somebody follows has changed, and tells those who follow it.
 * It costs nothing while nobody follows.
 */
export const tellFollowers = (
  deps: Pick<Deps, "clock" | "counters" | "eventStreams" | "log" | "pool">,
): Job => ({
  name: "followed links",
  waitMs: 1_000,
  run: async () => {
    try {
      for (const links of inChunks(deps.eventStreams.marks(), linksAtOnceMax)) {
        const marked = links.map((link) => ({ ...link, ...readFollowedKey(link.key) }));
        const changed = await findNewMarks(deps.pool, marked, deps.clock.now());
        for (const some of inChunks(changed, looksAtOnceMax)) {
          await Promise.all(some.map(({ key }) => tell(deps, key)));
        }
      }
    } catch (error) {
      deps.counters.lookFailed();
      throw error;
    }
  },
});

/** One link that cannot be read keeps nothing from those who follow another; it is tried again. */
const tell = async (
  { counters, eventStreams, log }: Pick<Deps, "counters" | "eventStreams" | "log">,
  key: string,
): Promise<void> => {
  try {
    await eventStreams.tell(key);
  } catch (error) {
    counters.lookFailed();
    log.error({ err: error, key }, "a followed link cannot be read");
  }
};

const inChunks = <Item>(items: readonly Item[], size: number): (readonly Item[])[] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, at) =>
    items.slice(at * size, (at + 1) * size),
  );
