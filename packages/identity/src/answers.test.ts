import { describe, expect, test } from "@jest/globals";
import { mintApiKey } from "@payment-links/contracts";
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

  test("one answer serves list for 5 s while create asks again after 1 s (rule CALLER-3)", async () => {
    const { authKeys, clock, identity, key } = open();
    authKeys.reply(sampleAnswer());
    await identity.byApiKey(key, list);
    clock.advance(3_000);
    expect(identity.knownApiKey(key, 5_000)).toBeDefined();
    expect(identity.knownApiKey(key, 1_000)).toBeUndefined();
    authKeys.reply(notFound);
    expect(await outcomeOf(identity.byApiKey(key, create))).toBe("INVALID_API_KEY");
    // The newer answer is good for a list as well.
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

  test("create does not take an answer whose question was asked more than 1 s ago, three times", async () => {
    const { authKeys, clock, identity, key } = open();
    const call = outcomeOf(identity.byApiKey(key, create));
    for (const count of [1, 2, 3]) {
      await settled();
      expect(authKeys.questions).toHaveLength(count);
      clock.advance(1_001);
      authKeys.release(sampleAnswer());
    }
    expect(await call).toBe(unavailable);
    expect(authKeys.questions).toHaveLength(3);
  });

  test("a create whose question was held up asks again, and takes that answer", async () => {
    const { authKeys, clock, identity, key } = open();
    const call = outcomeOf(identity.byApiKey(key, create));
    clock.advance(1_001);
    authKeys.release(sampleAnswer());
    await settled();
    clock.advance(1_000);
    authKeys.release(notFound);
    expect(await call).toBe("INVALID_API_KEY");
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

  test("a clock set back makes no answer younger than it is", async () => {
    const { authKeys, clock, identity, key } = open();
    authKeys.reply(sampleAnswer());
    await identity.byApiKey(key, create);
    authKeys.reply(notFound);
    clock.advance(30_000);
    clock.setBack(29_500);
    expect(identity.knownApiKey(key, create.freshMs)).toBeUndefined();
    expect(await outcomeOf(identity.byApiKey(key, create))).toBe("INVALID_API_KEY");
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
    // The memory has a bound: the first invented key was forgotten.
    const asked = authKeys.questions.length;
    await outcomeOf(identity.byApiKey(flood[0] ?? "", list));
    expect(authKeys.questions).toHaveLength(asked + 1);
  });
});

describe("expiry (rule CALLER-3)", () => {
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
    await identity.bySession("token", list);
    authKeys.reply(away);
    clock.advance(19_999);
    expect(await outcomeOf(identity.bySession("token", list))).toBe("accepted");
    clock.advance(1);
    expect(await outcomeOf(identity.bySession("token", list))).toBe("UNAUTHENTICATED");
  });
});

/** Lets everything run that only waits for its turn. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
