import { type Resolve, createDnsResolver } from "./resolver.ts";

/** What lies outside our own code; tests bring their own. */
export type ExternalDependencies = {
  resolve: Resolve;
  /** From 0 to 1: spreads retries. */
  random: () => number;
  /** A certificate authority that overridden https origins may use besides the public ones. */
  overrideCa?: string;
};

const resolveTimeoutMs = 5_000;

/** The real world. */
export const createExternalDependencies = (): ExternalDependencies => ({
  resolve: createDnsResolver({ timeoutMs: resolveTimeoutMs }),
  random: Math.random,
});
