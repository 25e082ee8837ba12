import type { Account, IntrospectionAnswer, IntrospectionQuestion } from "@payment-links/contracts";

/** Who is calling: the account, with its wallets and version, and the credential that was shown. */
export type Caller = {
  account: Account;
  credential: {
    id: string;
    /** The rate bucket; keys rotated from one another share one. */
    bucketId: string;
    scopes: readonly string[];
    expiresAt: Date | null;
  };
};

/**
 * Asks auth-keys one question. It settles within a time of its own, and throws when there is no answer:
 * `BadAnswer` where auth-keys did reply, so that the fault may lie in this one question, and any other
 * error where it could not be reached.
 */
export type Ask = (question: IntrospectionQuestion) => Promise<IntrospectionAnswer>;

/** auth-keys replied, but with no answer that can be read. */
export class BadAnswer extends Error {
  override readonly name = "BadAnswer";
}

/** It cannot be told who is calling: auth-keys gives no answer, and none that is kept may be used. */
export class IdentityUnavailable extends Error {
  override readonly name = "IdentityUnavailable";
}
