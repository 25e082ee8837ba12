import { ApiError, generateApiKey } from "@payment-links/contracts";
import { createFakeClock, createLog, createMetrics } from "@payment-links/runtime";
import { IdentityUnavailable } from "../caller.ts";
import { createIdentity } from "../identity.ts";
import { createFakeAuthKeys } from "./fake-auth-keys.ts";

/** The initial time of every test's fake clock. */
export const startedAt = new Date("2026-11-21T10:00:00Z");
/** The error of a connection attempt to a closed port. */
export const connectionRefused = new Error("connect ECONNREFUSED");
/** The response for a credential that does not exist. */
export const notFoundResponse = { found: false } as const;
/** The options of a create request and of a list request. */
export const createOptions = { maxAgeMs: 1_000 };
export const listOptions = { maxAgeMs: 5_000 };

/** Creates an `Identity` on a fake auth-keys, with a valid key. */
export const createIdentityRig = () => {
  const clock = createFakeClock(startedAt);
  const metrics = createMetrics("test");
  const authKeys = createFakeAuthKeys();
  const logLines: string[] = [];
  const log = createLog(
    { service: "test", level: "info" },
    { write: (line) => void logLines.push(line) },
  );
  const identity = createIdentity({
    requestIntrospection: authKeys.requestIntrospection,
    clock,
    metrics,
    log,
  });
  return { authKeys, clock, identity, logLines, metrics, key: generateApiKey("test") };
};

/**
 * Returns the result of a call: "accepted", the code of an API error, or the name of another error.
 */
export const getOutcome = async (call: Promise<unknown>): Promise<string> => {
  try {
    await call;
    return "accepted";
  } catch (error) {
    if (error instanceof ApiError) return error.entries[0]?.code ?? "";
    return error instanceof Error ? error.name : "no error";
  }
};

/** The result of a call when the caller cannot be identified. */
export const unavailableErrorName = IdentityUnavailable.name;
