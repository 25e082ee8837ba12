import { Refusal, mintApiKey } from "@payment-links/contracts";
import { createHeldClock, openLog, openMetrics } from "@payment-links/runtime";
import { IdentityUnavailable } from "../caller.ts";
import { createIdentity } from "../identity.ts";
import { createFakeAuthKeys } from "./fake-auth-keys.ts";

/** Where the held clock of every test stands at first. */
export const start = new Date("2026-11-21T10:00:00Z");
/** The error of asking where nobody listens. */
export const away = new Error("connect ECONNREFUSED");
/** The answer about a credential that does not exist. */
export const notFound = { found: false } as const;
/** As create asks, and as list asks. */
export const create = { freshMs: 1_000 };
export const list = { freshMs: 5_000 };

/** An identity over an auth-keys that the test plays, with a key to ask about. */
export const open = () => {
  const clock = createHeldClock(start);
  const metrics = openMetrics("test");
  const authKeys = createFakeAuthKeys();
  const lines: string[] = [];
  const log = openLog(
    { service: "test", level: "info" },
    { write: (line) => void lines.push(line) },
  );
  const identity = createIdentity({ ask: authKeys.ask, clock, metrics, log });
  return { authKeys, clock, identity, lines, metrics, key: mintApiKey("test") };
};

/** What a call ends with: "accepted", a refusal's code, or the name of another error. */
export const outcomeOf = async (call: Promise<unknown>): Promise<string> => {
  try {
    await call;
    return "accepted";
  } catch (error) {
    if (error instanceof Refusal) return error.entries[0]?.code ?? "";
    return error instanceof Error ? error.name : "no error";
  }
};

/** How a call ends if nobody can tell who is calling. */
export const unavailable = IdentityUnavailable.name;
