import type { Account, IntrospectionAnswer } from "@payment-links/contracts";
import { sessionEnd } from "./session.ts";

/** An API key as it was found by its hash, with the account that it acts for. */
export type FoundKey = Account & {
  credentialId: string;
  bucketId: string;
  scopes: string[];
  cidrs: string[] | null;
  expiresAt: Date | null;
  isActive: boolean;
  isRevoked: boolean;
};

/** A session as it was found by the hash of its token, with the account of the person. */
export type FoundSession = Account & { credentialId: string; lastSeenAt: Date; expiresAt: Date };

/** The outcome of a question. The asker hears less. */
export type IntrospectionOutcome =
  | "valid"
  | "unknown"
  | "revoked"
  | "inactive"
  | "expired"
  | "suspended";

/** The outcome of a question, for our metric, and the answer to it. */
export type Judgement = { outcome: IntrospectionOutcome; answer: IntrospectionAnswer };

/** Judges an API key. Unknown, revoked and inactive are answered alike; revoked wins over expired. */
export const judgeKey = (found: FoundKey | undefined, now: Date): Judgement => {
  if (found === undefined) return { outcome: "unknown", answer: { found: false } };
  if (found.isRevoked) return { outcome: "revoked", answer: { found: false } };
  if (!found.isActive) return { outcome: "inactive", answer: { found: false } };
  const isExpired = found.expiresAt !== null && found.expiresAt <= now;
  return {
    outcome: isExpired ? "expired" : usable(found),
    answer: tell(found, {
      bucketId: found.bucketId,
      scopes: found.scopes,
      expiresAt: found.expiresAt,
      ...(found.cidrs === null ? {} : { cidrs: found.cidrs }),
    }),
  };
};

/** Judges a session; its answer tells the nearer of its idle and its absolute end. */
export const judgeSession = (found: FoundSession | undefined, now: Date): Judgement => {
  if (found === undefined) return { outcome: "unknown", answer: { found: false } };
  const expiresAt = sessionEnd(found, now);
  return {
    outcome: expiresAt <= now ? "expired" : usable(found),
    answer: tell(found, { bucketId: found.credentialId, scopes: [], expiresAt }),
  };
};

const usable = ({ isSuspended }: Account): "valid" | "suspended" =>
  isSuspended === true ? "suspended" : "valid";

const tell = (
  found: Account & { credentialId: string },
  rest: { bucketId: string; scopes: string[]; expiresAt: Date | null; cidrs?: string[] },
): IntrospectionAnswer => ({
  found: true,
  account: {
    id: found.id,
    version: found.version,
    handle: found.handle,
    username: found.username,
    dateCreated: found.dateCreated,
    profileImage: found.profileImage,
    bio: found.bio,
    backgroundImage: found.backgroundImage,
    backgroundColour: found.backgroundColour,
    links: found.links,
    wallets: found.wallets,
    isSuspended: found.isSuspended,
  },
  credential: { id: found.credentialId, ...rest },
});
