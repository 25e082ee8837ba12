import { classifyFailure } from "@payment-links/bus";
import { type RequestIntrospection, InvalidIntrospectionResponse } from "@payment-links/identity";
import type { ServiceContext } from "@payment-links/process";
import type { ActiveIssuers } from "../domain/identity.ts";
import { restrictResponseFor, evaluateKey, evaluateSession } from "../domain/introspection.ts";
import type { LastUses } from "../domain/last-uses.ts";
import type { SignInMethod } from "../domain/session.ts";
import type { Counters } from "../metrics.ts";
import { findApiKeyByHash } from "../store/api-keys.ts";
import { findSessionByHash } from "../store/sessions.ts";

type IntrospectOptions = Pick<ServiceContext, "pool" | "clock"> & {
  counters: Counters;
  apiKeyUses: LastUses;
  sessionUses: LastUses;
  signInMethods: readonly SignInMethod[];
  activeIssuers: ActiveIssuers;
};

/**
 * Creates the function that finds the account behind a credential, in one round trip to the
 * database. A valid result counts as a use of the credential. Uses are collected in memory, because
 * a write per call would cost more than the lookup. Throws `InvalidIntrospectionResponse` if only
 * this row is invalid, and another error if the database is unavailable.
 */
export const createIntrospect =
  ({
    pool,
    clock,
    counters,
    apiKeyUses,
    sessionUses,
    signInMethods,
    activeIssuers,
  }: IntrospectOptions): RequestIntrospection =>
  async ({ kind, hash: hashHex, address = null, service = "auth-keys" }) => {
    const hash = Buffer.from(hashHex, "hex");
    const isApiKey = kind === "api-key";
    const evaluateCredential = async () =>
      isApiKey
        ? evaluateKey(await findApiKeyByHash(pool, hash), clock.now())
        : evaluateSession(await findSessionByHash(pool, { hash, service, activeIssuers }), {
            now: clock.now(),
            enabledMethods: signInMethods,
          });
    const { outcome, response } = await evaluateCredential().catch(throwIntrospectionError);
    counters.countIntrospection(kind, outcome);
    if (outcome === "valid" && response.found) {
      const uses = isApiKey ? apiKeyUses : sessionUses;
      uses.record({ id: response.credential.id, at: clock.now(), address });
    }
    return restrictResponseFor(service, response);
  };

const throwIntrospectionError = (error: unknown): never => {
  if (classifyFailure(error) === "transient") throw error;
  throw new InvalidIntrospectionResponse("could not read the account of a credential", {
    cause: error,
  });
};
