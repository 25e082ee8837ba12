import type { Account, IntrospectionAnswer, SessionService } from "@payment-links/contracts";
import { type SignInMethod, sessionEnd } from "./session.ts";

/** An API key as it was found by its hash, with the account that it acts for. */
export type FoundKey = Account & {
  credentialId: string;
  bucketId: string;
  scopes: string[];
  cidrs: string[] | null;
  requestsPerMinute: number | null;
  burst: number | null;
  expiresAt: Date | null;
  isActive: boolean;
  isRevoked: boolean;
};

/** A session as it was found by the hash of its token, with the account of the person. */
export type FoundSession = Account & {
  credentialId: string;
  method: string;
  lastSeenAt: Date;
  expiresAt: Date;
  /** When its person last proved to be there. */
  provenAt: Date;
  /** How the account's own identities sign in. */
  ownMethods: string[];
};

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
      ...(found.requestsPerMinute === null ? {} : { requestsPerMinute: found.requestsPerMinute }),
      ...(found.burst === null ? {} : { burst: found.burst }),
    }),
  };
};

/**
 * Judges a session; its answer tells the nearer of its idle and its absolute end, and by which of the
 * installation's methods its person can prove to be there: an operator's link is good for everybody.
 */
export const judgeSession = (
  found: FoundSession | undefined,
  { now, methods }: { now: Date; methods: readonly SignInMethod[] },
): Judgement => {
  if (found === undefined) return { outcome: "unknown", answer: { found: false } };
  const { credentialId: bucketId, method, ownMethods, provenAt } = found;
  const expiresAt = sessionEnd(found, now);
  const own = methods.filter((method) => method === "link" || ownMethods.includes(method));
  const presence = { provenAt, methods: own };
  return {
    outcome: expiresAt <= now ? "expired" : usable(found),
    answer: tell(found, { bucketId, scopes: [], expiresAt, method, presence }),
  };
};

/**
 * Leaves out of an answer what the service that asks does not need: webhook-dispatcher makes no payments, so it
 * receives no wallets (rule CALLER-41).
 */
export const answerFor = (
  service: SessionService,
  answer: IntrospectionAnswer,
): IntrospectionAnswer =>
  service === "webhook-dispatcher" && answer.found
    ? { ...answer, account: { ...answer.account, wallets: [] } }
    : answer;

const usable = ({ isSuspended }: Account): "valid" | "suspended" =>
  isSuspended === true ? "suspended" : "valid";

type FoundAnswer = Extract<IntrospectionAnswer, { found: true }>;

const tell = (
  found: Account & { credentialId: string },
  rest: Omit<FoundAnswer["credential"], "id">,
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
    isVerified: found.isVerified,
  },
  credential: { id: found.credentialId, ...rest },
});
