import { Counter } from "prom-client";
import type { Metrics } from "@payment-links/runtime";
import type { IntrospectionResult } from "./domain/introspection.ts";
import type { SignInMethod } from "./domain/session.ts";

/**
 * The outcome of a sign-in. It is `failed` if the error is ours or the identity provider is
 * unavailable, and `left` if the client disconnected before the response.
 */
type SignInResult = "succeeded" | "refused" | "left" | "failed";

/** The service's own counters. No label ever contains an account or a credential. */
export type Counters = {
  countIntrospection(kind: "api-key" | "session", outcome: IntrospectionResult): void;
  countSignIn(method: SignInMethod, outcome: SignInResult): void;
};

/** Registers the service's own counters. */
export const createCounters = (metrics: Metrics): Counters => {
  const introspectionCounter = new Counter({
    name: "payment_links_introspections_total",
    help: "Introspection requests, by kind of credential and outcome",
    labelNames: ["kind", "outcome"] as const,
    registers: [metrics],
  });
  const signInCounter = new Counter({
    name: "payment_links_sign_ins_total",
    help: "Sign-in attempts, by method and outcome",
    labelNames: ["method", "outcome"] as const,
    registers: [metrics],
  });
  return {
    countIntrospection: (kind, outcome) => introspectionCounter.inc({ kind, outcome }),
    countSignIn: (method, outcome) => signInCounter.inc({ method, outcome }),
  };
};
