import { describe, expect, test } from "@jest/globals";
import { Refusal, hashSecret, mintApiKey } from "@payment-links/contracts";
import { createHeldClock, openLog, openMetrics } from "@payment-links/runtime";
import { BadAnswer, IdentityUnavailable } from "./caller.ts";
import { createIdentity } from "./identity.ts";
import { createFakeAuthKeys } from "./testing/fake-auth-keys.ts";
import { sampleAnswer } from "./testing/sample-answer.ts";

const start = new Date("2026-11-21T10:00:00Z");
const away = new Error("connect ECONNREFUSED");
const notFound = { found: false } as const;
/** As create asks, and as list asks. */
const create = { freshMs: 1_000 };
const list = { freshMs: 5_000 };

const open = () => {
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
const outcomeOf = async (call: Promise<unknown>): Promise<string> => {
  try {
    await call;
    return "accepted";
  } catch (error) {
    if (error instanceof Refusal) return error.entries[0]?.code ?? "";
    return error instanceof Error ? error.name : "no error";
  }
};

const unavailable = IdentityUnavailable.name;

describe("what a key is asked about", () => {
  test("a caller is whom auth-keys names, and the question holds only the key's hash", async () => {
    const { authKeys, identity, key } = open();
    const answer = sampleAnswer();
    authKeys.reply(answer);
    const { account, credential } = answer;
    expect(await identity.byApiKey(key, create)).toEqual({ account, credential });
    expect(authKeys.questions).toEqual([
      { kind: "api-key", hash: hashSecret(key).toString("hex") },
    ]);
  });

  test("a text that cannot be a key is refused without a question", async () => {
    const { authKeys, identity, key } = open();
    const lastWrong = key.slice(0, -1) + (key.endsWith("0") ? "1" : "0");
    for (const text of ["", "x", lastWrong, `${key} `, key.toUpperCase(), "k".repeat(100_000)]) {
      expect(identity.knownApiKey(text, 5_000)).toBeUndefined();
      expect(await outcomeOf(identity.byApiKey(text, list))).toBe("INVALID_API_KEY");
    }
    expect(authKeys.questions).toEqual([]);
  });

  test("callers with one key at one time share one question", async () => {
    const { authKeys, identity, key } = open();
    const calls = Array.from({ length: 50 }, () => identity.byApiKey(key, list));
    expect(authKeys.questions).toHaveLength(1);
    authKeys.release(sampleAnswer());
    expect(new Set(await Promise.all(calls)).size).toBe(1);
  });

  test("a question that failed for several callers is asked again for the next", async () => {
    const { authKeys, identity, key } = open();
    const calls = [identity.byApiKey(key, list), identity.byApiKey(key, list)];
    authKeys.release(new BadAnswer("garbled"));
    expect(await Promise.all(calls.map(outcomeOf))).toEqual([unavailable, unavailable]);
    authKeys.reply(sampleAnswer());
    expect(await outcomeOf(identity.byApiKey(key, list))).toBe("accepted");
  });

  test("an API key's text as a session token is another credential", async () => {
    const { authKeys, identity, key } = open();
    authKeys.reply(sampleAnswer());
    await identity.byApiKey(key, list);
    authKeys.reply(notFound);
    expect(await outcomeOf(identity.bySession(key))).toBe("UNAUTHENTICATED");
    expect(authKeys.questions.map(({ kind }) => kind)).toEqual(["api-key", "session"]);
  });
});

describe("how long an answer lives", () => {
  test.each([create, list])("to the millisecond: fresh for $freshMs ms", async ({ freshMs }) => {
    const { authKeys, clock, identity, key } = open();
    authKeys.reply(sampleAnswer());
    await identity.byApiKey(key, { freshMs });
    clock.advance(freshMs);
    expect(identity.knownApiKey(key, freshMs)).toBeDefined();
    await identity.byApiKey(key, { freshMs });
    expect(authKeys.questions).toHaveLength(1);
    clock.advance(1);
    expect(identity.knownApiKey(key, freshMs)).toBeUndefined();
    await identity.byApiKey(key, { freshMs });
    expect(authKeys.questions).toHaveLength(2);
  });

  test("one answer serves list for 5 s while create asks again after 1 s", async () => {
    const { authKeys, clock, identity, key } = open();
    authKeys.reply(sampleAnswer());
    await identity.byApiKey(key, list);
    clock.advance(3_000);
    expect(identity.knownApiKey(key, 5_000)).toBeDefined();
    expect(identity.knownApiKey(key, 1_000)).toBeUndefined();
    authKeys.reply(notFound);
    expect(await outcomeOf(identity.byApiKey(key, create))).toBe("INVALID_API_KEY");
    // The newer answer holds for list as well.
    expect(await outcomeOf(identity.byApiKey(key, list))).toBe("INVALID_API_KEY");
    expect(authKeys.questions).toHaveLength(2);
  });

  test("its age counts from the question, not from the answer", async () => {
    const { authKeys, clock, identity, key } = open();
    const call = identity.byApiKey(key, list);
    clock.advance(900);
    authKeys.release(sampleAnswer());
    await call;
    clock.advance(100);
    expect(identity.knownApiKey(key, 1_000)).toBeDefined();
    clock.advance(1);
    expect(identity.knownApiKey(key, 1_000)).toBeUndefined();
  });

  test("create does not take an answer whose question was asked more than 1 s ago", async () => {
    const { authKeys, clock, identity, key } = open();
    const call = outcomeOf(identity.byApiKey(key, create));
    clock.advance(1_001);
    authKeys.release(sampleAnswer());
    expect(await call).toBe(unavailable);
    expect(authKeys.questions).toHaveLength(1);
  });

  test("a create that joined a question grown too old asks its own, and takes that answer", async () => {
    const { authKeys, clock, identity, key } = open();
    const first = identity.byApiKey(key, list);
    clock.advance(900);
    const second = outcomeOf(identity.byApiKey(key, create));
    clock.advance(200);
    authKeys.release(sampleAnswer());
    await first;
    await settled();
    expect(authKeys.questions).toHaveLength(2);
    authKeys.release(notFound);
    expect(await second).toBe("INVALID_API_KEY");
  });

  test("a clock set back makes an answer of unknown age, which is not fresh", async () => {
    const { authKeys, clock, identity, key } = open();
    authKeys.reply(sampleAnswer());
    await identity.byApiKey(key, list);
    clock.advance(-1);
    expect(identity.knownApiKey(key, 5_000)).toBeUndefined();
  });

  test("an unknown key is asked about once in 5 s by list, and once a second by create", async () => {
    const { authKeys, clock, identity, key } = open();
    authKeys.reply(notFound);
    const codes = async (options: { freshMs: number }) => {
      for (let call = 0; call < 20; call += 1) {
        expect(await outcomeOf(identity.byApiKey(key, options))).toBe("INVALID_API_KEY");
      }
      return authKeys.questions.length;
    };
    expect(await codes(list)).toBe(1);
    clock.advance(5_000);
    expect(await codes(list)).toBe(1);
    clock.advance(1);
    expect(await codes(list)).toBe(2);
    clock.advance(1_001);
    expect(await codes(create)).toBe(3);
  });

  test("an unknown key's answer lasts 5 s at most, however stale the asker would take one", async () => {
    const { authKeys, clock, identity, key } = open();
    authKeys.reply(notFound);
    await outcomeOf(identity.byApiKey(key, { freshMs: 60_000 }));
    clock.advance(5_001);
    authKeys.reply(sampleAnswer());
    expect(await outcomeOf(identity.byApiKey(key, { freshMs: 60_000 }))).toBe("accepted");
  });

  test("a flood of invented keys pushes no known one out", async () => {
    const { authKeys, identity, key } = open();
    authKeys.reply(sampleAnswer());
    await identity.byApiKey(key, list);
    authKeys.reply(notFound);
    const flood = Array.from({ length: 12_000 }, () => mintApiKey("test"));
    await Promise.all(flood.slice(0, 600).map((one) => outcomeOf(identity.byApiKey(one, list))));
    for (const one of flood.slice(600)) await outcomeOf(identity.byApiKey(one, list));
    expect(identity.knownApiKey(key, 5_000)).toBeDefined();
    // Nor is the memory without a bound: the first invented one was forgotten.
    const asked = authKeys.questions.length;
    await outcomeOf(identity.byApiKey(flood[0] ?? "", list));
    expect(authKeys.questions).toHaveLength(asked + 1);
  });
});

describe("expiry", () => {
  test("a key ends at its instant by the local clock, whatever is kept", async () => {
    const { authKeys, clock, identity, key } = open();
    authKeys.reply(sampleAnswer(new Date(start.getTime() + 500)));
    await identity.byApiKey(key, create);
    clock.advance(499);
    expect(identity.knownApiKey(key, 1_000)).toBeDefined();
    expect(await outcomeOf(identity.byApiKey(key, create))).toBe("accepted");
    clock.advance(1);
    expect(identity.knownApiKey(key, 1_000)).toBeUndefined();
    expect(await outcomeOf(identity.byApiKey(key, create))).toBe("EXPIRED_API_KEY");
    expect(authKeys.questions).toHaveLength(1);
  });

  test("a key that ends while it is asked about is refused", async () => {
    const { authKeys, clock, identity, key } = open();
    const call = outcomeOf(identity.byApiKey(key, list));
    clock.advance(500);
    authKeys.release(sampleAnswer(new Date(start.getTime() + 500)));
    expect(await call).toBe("EXPIRED_API_KEY");
  });

  test("a session ends likewise, and so does a stale one while auth-keys is away", async () => {
    const { authKeys, clock, identity } = open();
    authKeys.reply(sampleAnswer(new Date(start.getTime() + 20_000)));
    await identity.bySession("token");
    authKeys.reply(away);
    clock.advance(19_999);
    expect(await outcomeOf(identity.bySession("token"))).toBe("accepted");
    clock.advance(1);
    expect(await outcomeOf(identity.bySession("token"))).toBe("UNAUTHENTICATED");
  });
});

describe("auth-keys away", () => {
  test("list lives on the last answer for 60 s from its question, and no longer", async () => {
    const { authKeys, clock, identity, key } = open();
    authKeys.reply(sampleAnswer());
    await identity.byApiKey(key, list);
    authKeys.reply(away);
    clock.advance(60_000);
    expect(await outcomeOf(identity.byApiKey(key, list))).toBe("accepted");
    clock.advance(1);
    expect(await outcomeOf(identity.byApiKey(key, list))).toBe(unavailable);
  });

  test("create goes no further than 1 s", async () => {
    const { authKeys, clock, identity, key } = open();
    authKeys.reply(sampleAnswer());
    await identity.byApiKey(key, create);
    authKeys.reply(away);
    clock.advance(1_000);
    expect(await outcomeOf(identity.byApiKey(key, create))).toBe("accepted");
    clock.advance(1);
    expect(await outcomeOf(identity.byApiKey(key, create))).toBe(unavailable);
  });

  test("a key that was found unknown stays refused on the last answer", async () => {
    const { authKeys, clock, identity, key } = open();
    authKeys.reply(notFound);
    await outcomeOf(identity.byApiKey(key, list));
    authKeys.reply(away);
    clock.advance(30_000);
    expect(await outcomeOf(identity.byApiKey(key, list))).toBe("INVALID_API_KEY");
    expect(await outcomeOf(identity.byApiKey(key, create))).toBe(unavailable);
  });

  test("a key never seen cannot be told, and the reason is kept for the log", async () => {
    const { authKeys, identity, key } = open();
    authKeys.reply(away);
    await expect(identity.byApiKey(key, list)).rejects.toMatchObject({
      name: unavailable,
      cause: away,
    });
  });

  test("after a failure nobody waits: one question in half a second, all others fail at once", async () => {
    const { authKeys, clock, identity } = open();
    const waiting = outcomeOf(identity.byApiKey(mintApiKey("test"), list));
    authKeys.release(away);
    expect(await waiting).toBe(unavailable);

    const ask = () => outcomeOf(identity.byApiKey(mintApiKey("test"), list));
    expect(await Promise.all([ask(), ask(), ask()])).toEqual(Array(3).fill(unavailable));
    expect(authKeys.questions).toHaveLength(1);

    clock.advance(500);
    const trial = ask();
    // While one tries, the others still do not wait.
    expect(await Promise.all([ask(), ask()])).toEqual(Array(2).fill(unavailable));
    expect(authKeys.questions).toHaveLength(2);
    authKeys.release(away);
    expect(await trial).toBe(unavailable);
    expect(await ask()).toBe(unavailable);
    expect(authKeys.questions).toHaveLength(2);

    clock.advance(500);
    authKeys.reply(sampleAnswer());
    expect(await ask()).toBe("accepted");
    expect(await Promise.all([ask(), ask()])).toEqual(["accepted", "accepted"]);
  });

  test("an answer about one key that cannot be read keeps no other waiting", async () => {
    const { authKeys, identity, key } = open();
    authKeys.reply(new BadAnswer("garbled"));
    expect(await outcomeOf(identity.byApiKey(key, list))).toBe(unavailable);
    authKeys.reply(sampleAnswer());
    expect(await outcomeOf(identity.byApiKey(mintApiKey("test"), list))).toBe("accepted");
  });

  test("is logged once when it begins and once when it ends, without any key", async () => {
    const { authKeys, clock, identity, key, lines } = open();
    authKeys.reply(away);
    for (let call = 0; call < 5; call += 1) {
      await outcomeOf(identity.byApiKey(key, list));
      clock.advance(500);
    }
    authKeys.reply(sampleAnswer());
    await identity.byApiKey(key, list);
    await identity.byApiKey(mintApiKey("test"), list);
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual([
      "auth-keys does not answer",
      "auth-keys answers again",
    ]);
    expect(lines.join("")).not.toContain(key);
    expect(lines.join("")).not.toContain(hashSecret(key).toString("hex"));
  });

  test("questions, their outcomes, stale answers and the state itself are told in metrics", async () => {
    const { authKeys, clock, identity, key, metrics } = open();
    authKeys.reply(sampleAnswer());
    await identity.byApiKey(key, list);
    authKeys.reply(notFound);
    await outcomeOf(identity.bySession("nobody"));
    authKeys.reply(away);
    clock.advance(6_000);
    await identity.byApiKey(key, list);
    await identity.byApiKey(key, list);
    const text = await metrics.metrics();
    for (const line of [
      'questions_total{kind="api-key",outcome="found",service="test"} 1',
      'questions_total{kind="session",outcome="not_found",service="test"} 1',
      'questions_total{kind="api-key",outcome="failed",service="test"} 1',
      'stale_answers_total{kind="api-key",service="test"} 2',
      'unreachable{service="test"} 1',
    ]) {
      expect(text).toContain(`payment_links_identity_${line}\n`);
    }
  });

  test("only so many questions are under way at once; more fail at once", async () => {
    const { authKeys, identity } = open();
    const calls = Array.from({ length: 1_000 }, () =>
      outcomeOf(identity.byApiKey(mintApiKey("test"), list)),
    );
    expect(await outcomeOf(identity.byApiKey(mintApiKey("test"), list))).toBe(unavailable);
    expect(authKeys.questions).toHaveLength(1_000);
    for (let call = 0; call < 1_000; call += 1) authKeys.release(sampleAnswer());
    expect(new Set(await Promise.all(calls))).toEqual(new Set(["accepted"]));
  });
});

describe("sessions", () => {
  test("a session is asked about once in 5 s", async () => {
    const { authKeys, clock, identity } = open();
    authKeys.reply(sampleAnswer());
    await identity.bySession("token");
    clock.advance(5_000);
    await identity.bySession("token");
    expect(authKeys.questions).toEqual([
      { kind: "session", hash: hashSecret("token").toString("hex") },
    ]);
    clock.advance(1);
    await identity.bySession("token");
    expect(authKeys.questions).toHaveLength(2);
  });

  test("a text that cannot be a token is refused without a question", async () => {
    const { authKeys, identity } = open();
    for (const token of ["", "t".repeat(257)]) {
      expect(await outcomeOf(identity.bySession(token))).toBe("UNAUTHENTICATED");
    }
    expect(authKeys.questions).toEqual([]);
  });

  test("a session that ended here is asked about anew", async () => {
    const { authKeys, identity } = open();
    authKeys.reply(sampleAnswer());
    await identity.bySession("token");
    identity.forgetSession("token");
    authKeys.reply(notFound);
    expect(await outcomeOf(identity.bySession("token"))).toBe("UNAUTHENTICATED");
  });

  test("a session forgotten while it is asked about is not brought back by the answer", async () => {
    const { authKeys, identity } = open();
    const before = identity.bySession("token");
    identity.forgetSession("token");
    const after = outcomeOf(identity.bySession("token"));
    expect(authKeys.questions).toHaveLength(2);
    authKeys.release(sampleAnswer());
    await before;
    authKeys.release(notFound);
    expect(await after).toBe("UNAUTHENTICATED");
    authKeys.reply(away);
    expect(await outcomeOf(identity.bySession("token"))).toBe("UNAUTHENTICATED");
  });
});

/** Lets everything run that waits for nothing but its turn. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
