import { ApiError, generateApiKey } from "@payment-links/contracts";
import { createFakeClock, createLog, createMetrics } from "@payment-links/runtime";
import { IdentityUnavailable } from "../caller.ts";
import { createIdentity } from "../identity.ts";
import { createFakeAuthKeys } from "./fake-auth-keys.ts";

/** Where the held clock of every test stands at first. */
export const startedAt = new Date("2026-11-21T10:00:00Z");
/** The error of asking where nobody listens. */
export const connectionRefused = new Error("connect ECONNREFUSED");
/** The answer about a credential that does not exist. */
export const notFoundResponse = { found: false } as const;
/** As create asks, and as list asks. */
export const createOptions = { maxAgeMs: 1_000 };
export const listOptions = { maxAgeMs: 5_000 };

/** An identity over an auth-keys that the test plays, with a key to ask about. */
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

/** What a call ends with: "accepted", a refusal's code, or the name of another error. */
export const getOutcome = async (call: Promise<unknown>): Promise<string> => {
  try {
    await call;
    return "accepted";
  } catch (error) {
    if (error instanceof ApiError) return error.entries[0]?.code ?? "";
    return error instanceof Error ? error.name : "no error";
  }
};

/** How a call ends if nobody can tell who is calling. */
export const unavailableErrorName = IdentityUnavailable.name;
