import { classifyFailure } from "@payment-links/bus";
import { type Ask, BadAnswer } from "@payment-links/identity";
import type { Deps } from "./deps.ts";
import { answerFor, judgeKey, judgeSession } from "./domain/introspection.ts";
import { findApiKeyByHash } from "./store/api-keys.ts";
import { findSessionByHash } from "./store/sessions.ts";

type IntrospectDeps = Pick<
  Deps,
  "pool" | "clock" | "counters" | "apiKeyUses" | "sessionUses" | "signInMethods" | "issuers"
>;

/**
 * Answers who is behind a credential, in one round trip to the database. A valid answer counts as a
 * use of the credential. It is noted in memory, because a write per call would cost more than the
 * question. Throws BadAnswer if the one row is at fault, and any other error if the database is
 * away.
 */
export const createIntrospect =
  ({ pool, clock, counters, apiKeyUses, sessionUses, ...ways }: IntrospectDeps): Ask =>
  async ({ kind, hash: hex, address = null, service = "auth-keys" }) => {
    const hash = Buffer.from(hex, "hex");
    const isKey = kind === "api-key";
    const judge = async () =>
      isKey
        ? judgeKey(await findApiKeyByHash(pool, hash), clock.now())
        : judgeSession(await findSessionByHash(pool, { hash, service, issuers: ways.issuers }), {
            now: clock.now(),
            methods: ways.signInMethods,
          });
    const { outcome, answer } = await judge().catch(rethrow);
    counters.introspected(kind, outcome);
    if (outcome === "valid" && answer.found) {
      const uses = isKey ? apiKeyUses : sessionUses;
      uses.note({ id: answer.credential.id, at: clock.now(), address });
    }
    return answerFor(service, answer);
  };

const rethrow = (error: unknown): never => {
  if (classifyFailure(error) === "transient") throw error;
  throw new BadAnswer("who is behind a credential cannot be read", { cause: error });
};
