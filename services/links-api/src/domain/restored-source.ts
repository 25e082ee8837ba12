/** The maximum difference between the clocks of a service's processes (rule EVENT-7). */
const clockSkewMsMax = 60_000;

/**
 * Returns whether a state was published long after an earlier one. If the later state contradicts
 * the earlier one but does not have a higher version, the publishing service was restored from a
 * backup and has restarted its versions.
 */
export const isPublishedLongAfter = (publishedAt: Date, earlierPublishedAt: Date | null): boolean =>
  earlierPublishedAt !== null &&
  publishedAt.getTime() - earlierPublishedAt.getTime() > clockSkewMsMax;
