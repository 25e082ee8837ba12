import { hash } from "node:crypto";
import { type SessionService, isApiKey, refuse } from "@payment-links/contracts";
import type { Clock, Log, Metrics } from "@payment-links/runtime";
import { createAnswers } from "./answers.ts";
import type { Ask, Caller } from "./caller.ts";
import { guardAsk } from "./guard-ask.ts";
import { openIdentityMetrics } from "./identity-metrics.ts";
import { requirePresence } from "./require-presence.ts";

/** Tells who is calling, by what auth-keys last said (rule CALLER-3). */
export type Identity = {
  /**
   * Who holds the key, if an answer at most `freshMs` old says so without any I/O and the key may
   * be used right now. Undefined says nothing about the key.
   */
  knownApiKey(key: string, freshMs: number): Caller | undefined;
  /**
   * Who holds the key. Throws the refusals INVALID_API_KEY, EXPIRED_API_KEY and ACCOUNT_SUSPENDED,
   * and IdentityUnavailable without an answer at most `freshMs` old. While auth-keys is away an answer
   * may be 60 s old, unless `freshMs` is 1,000 or less. If auth-keys is asked, it is told the address.
   */
  byApiKey(key: string, options: KeyOptions): Promise<Caller>;
  /**
   * Whose session it is, likewise. Throws the refusals UNAUTHENTICATED and ACCOUNT_SUSPENDED, and
   * IdentityUnavailable. Where presence is needed, also REAUTHENTICATION_REQUIRED.
   */
  bySession(token: string, options: SessionOptions): Promise<Caller>;
  /** Forgets what is known of a session that ended here. */
  forgetSession(token: string): void;
};

/** What is asked of a key; `address` is from where it is used. */
type KeyOptions = { freshMs: number; address?: string | undefined };

/** What is asked of a session. */
type SessionOptions = { freshMs: number; needsPresence?: boolean };

type IdentityOptions = {
  ask: Ask;
  clock: Clock;
  metrics: Metrics;
  log: Log;
  /** The service that receives the sessions' tokens; auth-keys if not given. */
  service?: SessionService | undefined;
};

const sessionTokenCharsMax = 256;
const keyCharsMax = 64;

/** Makes the port to auth-keys, with its bounded caches. Only the SHA-256 of a secret is kept. */
export const createIdentity = ({
  ask,
  clock,
  metrics,
  log,
  service,
}: IdentityOptions): Identity => {
  const counts = openIdentityMetrics(metrics, clock);
  const guarded = guardAsk({ ask, clock, counts, log });
  const apiKeys = createAnswers({ kind: "api-key", ask: guarded, clock, counts });
  const sessions = createAnswers({ kind: "session", service, ask: guarded, clock, counts });
  const hasExpired = ({ credential }: Caller): boolean =>
    credential.expiresAt !== null && credential.expiresAt <= clock.now();

  return {
    knownApiKey: (key, freshMs) => {
      if (key.length > keyCharsMax) return undefined;
      const caller = apiKeys.known(hashOf(key), freshMs)?.caller;
      const isUsable = caller !== undefined && !hasExpired(caller) && !isSuspended(caller);
      return isUsable ? caller : undefined;
    },
    byApiKey: async (key, wanted) => {
      if (!isApiKey(key)) throw refuse("INVALID_API_KEY");
      const { caller } = await apiKeys.get(hashOf(key), wanted);
      if (caller === undefined) throw refuse("INVALID_API_KEY");
      if (hasExpired(caller)) throw refuse("EXPIRED_API_KEY");
      if (isSuspended(caller)) throw refuse("ACCOUNT_SUSPENDED");
      return caller;
    },
    bySession: async (token, { freshMs, needsPresence = false }) => {
      const canBe = token !== "" && token.length <= sessionTokenCharsMax;
      if (!canBe) throw refuse("UNAUTHENTICATED");
      const { caller } = await sessions.get(hashOf(token), { freshMs });
      if (caller === undefined || hasExpired(caller)) throw refuse("UNAUTHENTICATED");
      if (isSuspended(caller)) throw refuse("ACCOUNT_SUSPENDED");
      if (needsPresence) requirePresence(caller, clock.now());
      return caller;
    },
    forgetSession: (token) => sessions.forget(hashOf(token)),
  };
};

const isSuspended = ({ account }: Caller): boolean => account.isSuspended === true;

/** The same SHA-256 as contracts' `hashSecret`, but in one call, because every request makes it. */
const hashOf = (secret: string): string => hash("sha256", secret, "hex");
