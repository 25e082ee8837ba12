import { describe, expect, test } from "@jest/globals";
import { hashSecret } from "@payment-links/contracts";
import { BadAnswer } from "./caller.ts";
import {
  away,
  create,
  list,
  notFound,
  open,
  outcomeOf,
  start,
  unavailable,
} from "./testing/identity-rig.ts";
import { sampleAnswer } from "./testing/sample-answer.ts";

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

  test("where a key is used from is told with the question", async () => {
    const { authKeys, identity, key } = open();
    authKeys.reply(sampleAnswer());
    await identity.byApiKey(key, { ...list, address: "203.0.113.9" });
    expect(authKeys.questions).toMatchObject([{ kind: "api-key", address: "203.0.113.9" }]);
  });

  test("a suspended account's key and session are known, and refused by a code of their own (rule CALLER-17)", async () => {
    const { authKeys, identity, key } = open();
    const { account, credential } = sampleAnswer();
    authKeys.reply({ found: true, account: { ...account, isSuspended: true }, credential });
    expect(await outcomeOf(identity.byApiKey(key, create))).toBe("ACCOUNT_SUSPENDED");
    expect(identity.knownApiKey(key, create.freshMs)).toBeUndefined();
    expect(await outcomeOf(identity.bySession("token", list))).toBe("ACCOUNT_SUSPENDED");
  });

  test("a text that cannot be a key is refused without a question (rule CALLER-2)", async () => {
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
    expect(await outcomeOf(identity.bySession(key, list))).toBe("UNAUTHENTICATED");
    expect(authKeys.questions.map(({ kind }) => kind)).toEqual(["api-key", "session"]);
  });
});

describe("sessions", () => {
  test("a session's old answer lets nothing be written while auth-keys is away", async () => {
    const { authKeys, clock, identity } = open();
    authKeys.reply(sampleAnswer());
    await identity.bySession("token", create);
    authKeys.reply(away);
    clock.advance(1_000);
    expect(await outcomeOf(identity.bySession("token", create))).toBe("accepted");
    clock.advance(1);
    expect(await outcomeOf(identity.bySession("token", create))).toBe(unavailable);
    expect(await outcomeOf(identity.bySession("token", list))).toBe("accepted");
  });

  test("a session is asked about once in 5 s", async () => {
    const { authKeys, clock, identity } = open();
    authKeys.reply(sampleAnswer());
    await identity.bySession("token", list);
    clock.advance(5_000);
    await identity.bySession("token", list);
    expect(authKeys.questions).toEqual([
      { kind: "session", hash: hashSecret("token").toString("hex") },
    ]);
    clock.advance(1);
    await identity.bySession("token", list);
    expect(authKeys.questions).toHaveLength(2);
  });

  test("a text that cannot be a token is refused without a question", async () => {
    const { authKeys, identity } = open();
    for (const token of ["", "t".repeat(257)]) {
      expect(await outcomeOf(identity.bySession(token, list))).toBe("UNAUTHENTICATED");
    }
    expect(authKeys.questions).toEqual([]);
    authKeys.reply(sampleAnswer());
    expect(await outcomeOf(identity.bySession("t".repeat(256), list))).toBe("accepted");
  });

  test("what needs presence is refused ten minutes after its proof, and where none is known (rule CALLER-19)", async () => {
    const { authKeys, clock, identity } = open();
    const { account, credential } = sampleAnswer();
    const presence = { provenAt: start, methods: ["link"] };
    authKeys.reply({ found: true, account, credential: { ...credential, presence } });
    const act = (token: string) =>
      outcomeOf(identity.bySession(token, { ...create, needsPresence: true }));
    clock.advance(10 * 60 * 1000 - 1);
    expect(await act("token")).toBe("accepted");
    clock.advance(1);
    expect(await act("token")).toBe("REAUTHENTICATION_REQUIRED");
    expect(await outcomeOf(identity.bySession("token", create))).toBe("accepted");
    authKeys.reply(sampleAnswer());
    expect(await act("other")).toBe("REAUTHENTICATION_REQUIRED");
  });

  test("a session that ended here is asked about anew", async () => {
    const { authKeys, identity } = open();
    authKeys.reply(sampleAnswer());
    await identity.bySession("token", list);
    identity.forgetSession("token");
    authKeys.reply(notFound);
    expect(await outcomeOf(identity.bySession("token", list))).toBe("UNAUTHENTICATED");
  });

  test("a session forgotten while it is asked about is not brought back by the answer", async () => {
    const { authKeys, identity } = open();
    const before = identity.bySession("token", list);
    identity.forgetSession("token");
    const after = outcomeOf(identity.bySession("token", list));
    expect(authKeys.questions).toHaveLength(2);
    authKeys.release(sampleAnswer());
    await before;
    authKeys.release(notFound);
    expect(await after).toBe("UNAUTHENTICATED");
    authKeys.reply(away);
    expect(await outcomeOf(identity.bySession("token", list))).toBe("UNAUTHENTICATED");
  });

  test("an answer to a question from before a session ended is not kept for the next call", async () => {
    const { authKeys, identity } = open();
    const before = identity.bySession("token", list);
    identity.forgetSession("token");
    authKeys.release(sampleAnswer());
    await before;
    authKeys.reply(notFound);
    expect(await outcomeOf(identity.bySession("token", list))).toBe("UNAUTHENTICATED");
  });
});
