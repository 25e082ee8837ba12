import type { SourceIdPrefix } from "./source-id-prefix.ts";

/** What a checkout stream follows: a link, and optionally the payment that the viewer made. */
export type FollowedLink = { linkId: string; payment: SourceIdPrefix | null };

/** Returns a key that is the same for all streams that follow the same link and payment. */
export const formatFollowedKey = ({ linkId, payment }: FollowedLink): string =>
  payment === null ? linkId : [linkId, payment.source, payment.prefix].join(" ");

/** Parses a key. Its last part comes from a payer and may contain spaces. */
export const parseFollowedKey = (key: string): FollowedLink => {
  const [linkId = "", source, ...prefixParts] = key.split(" ");
  return {
    linkId,
    payment: source === undefined ? null : { source, prefix: prefixParts.join(" ") },
  };
};
