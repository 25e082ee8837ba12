import type { SourceIdPrefix } from "./source-id-prefix.ts";

/** What a stream of the checkout follows: a link, and one payment on it if its follower made that. */
export type FollowedLink = { linkId: string; payment: SourceIdPrefix | null };

/** One text for all who follow the same. */
export const formatFollowedKey = ({ linkId, payment }: FollowedLink): string =>
  payment === null ? linkId : [linkId, payment.source, payment.prefix].join(" ");

/** What such a text names. What a payer has written is its end, and may have spaces. */
export const parseFollowedKey = (key: string): FollowedLink => {
  const [linkId = "", source, ...prefixParts] = key.split(" ");
  return {
    linkId,
    payment: source === undefined ? null : { source, prefix: prefixParts.join(" ") },
  };
};
