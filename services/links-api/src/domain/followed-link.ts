/** What a stream of the checkout follows: a link, and one payment on it if its follower made that. */
export type FollowedLink = { linkId: string; paymentId: string | null };

/** One text for all who follow the same. */
export const followedKey = ({ linkId, paymentId }: FollowedLink): string =>
  paymentId === null ? linkId : `${linkId} ${paymentId}`;

/** What such a text names. */
export const readFollowedKey = (key: string): FollowedLink => {
  const [linkId = "", paymentId = null] = key.split(" ");
  return { linkId, paymentId };
};
