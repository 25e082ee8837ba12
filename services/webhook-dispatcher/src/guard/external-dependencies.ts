import { type Resolve, createDnsResolver } from "./resolver.ts";

/** Dependencies outside our own code. Tests replace them. */
export type ExternalDependencies = {
  resolve: Resolve;
  /** Returns a number from 0 to 1 that spreads retries. */
  random: () => number;
  /** An additional certificate authority for overridden https origins. */
  overrideCa?: string;
};

const resolveTimeoutMs = 5_000;

/** Creates the real dependencies. */
export const createExternalDependencies = (): ExternalDependencies => ({
  resolve: createDnsResolver({ timeoutMs: resolveTimeoutMs }),
  random: Math.random,
});
