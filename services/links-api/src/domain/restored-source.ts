/** The clocks of a service's processes differ by less (rule EVENT-7). */
const clockSkewMsMax = 60_000;

/**
 * Returns whether a state was published long after an earlier one. If the later state has no higher
 * version but contradicts the earlier one, its service was restored from a backup and counts its
 * versions again.
 */
export const isPublishedLongAfter = (publishedAt: Date, earlierPublishedAt: Date | null): boolean =>
  earlierPublishedAt !== null &&
  publishedAt.getTime() - earlierPublishedAt.getTime() > clockSkewMsMax;
