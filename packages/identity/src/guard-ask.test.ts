import { describe, expect, test } from "@jest/globals";
import { hashSecret, mintApiKey } from "@payment-links/contracts";
import { BadAnswer } from "./caller.ts";
import {
  away,
  create,
  list,
  notFound,
  open,
  outcomeOf,
  unavailable,
} from "./testing/identity-rig.ts";
import { sampleAnswer } from "./testing/sample-answer.ts";

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

  test("is over with an answer about one key that cannot be read: it did answer", async () => {
    const { authKeys, clock, identity, key } = open();
    authKeys.reply(away);
    await outcomeOf(identity.byApiKey(key, list));
    clock.advance(500);
    authKeys.reply(new BadAnswer("garbled"));
    expect(await outcomeOf(identity.byApiKey(key, list))).toBe(unavailable);
    authKeys.reply(sampleAnswer());
    // Nobody fails for another's trial any more.
    const ask = () => outcomeOf(identity.byApiKey(mintApiKey("test"), list));
    expect(await Promise.all([ask(), ask()])).toEqual(["accepted", "accepted"]);
  });

  test("a clock set back puts off no trial", async () => {
    const { authKeys, clock, identity, key } = open();
    authKeys.reply(away);
    await outcomeOf(identity.byApiKey(key, list));
    clock.advance(-1);
    authKeys.reply(sampleAnswer());
    expect(await outcomeOf(identity.byApiKey(key, list))).toBe("accepted");
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
    await outcomeOf(identity.bySession("nobody", list));
    authKeys.reply(away);
    clock.advance(6_000);
    await identity.byApiKey(key, list);
    await identity.byApiKey(key, list);
    const text = await metrics.metrics();
    for (const line of [
      'questions_total{kind="api-key",outcome="found",service="test"} 1',
      'questions_total{kind="session",outcome="not_found",service="test"} 1',
      'questions_total{kind="api-key",outcome="failed",service="test"} 1',
      'question_duration_seconds_count{service="test",kind="api-key"} 2',
      'stale_answers_total{kind="api-key",service="test"} 2',
      'unreachable{service="test"} 1',
    ]) {
      expect(text).toContain(`payment_links_identity_${line}\n`);
    }
  });

  test("is told for four minutes after the last failure: nobody may ask again once it is over", async () => {
    const { authKeys, clock, identity, metrics } = open();
    const ask = () => outcomeOf(identity.byApiKey(mintApiKey("test"), list));
    const isTold = async () => {
      const text = await metrics.getSingleMetricAsString("payment_links_identity_unreachable");
      return text.endsWith('{service="test"} 1');
    };
    expect(await isTold()).toBe(false);
    authKeys.reply(away);
    for (let call = 0; call < 10; call += 1) {
      await ask();
      expect(await isTold()).toBe(true);
      clock.advance(239_999);
      expect(await isTold()).toBe(true);
    }
    // Nor does a clock that was set back meanwhile keep it up.
    clock.setBack(3_600_000);
    expect(await isTold()).toBe(true);
    clock.advance(1);
    expect(await isTold()).toBe(false);

    await ask();
    expect(await isTold()).toBe(true);
    clock.advance(500);
    authKeys.reply(sampleAnswer());
    expect(await ask()).toBe("accepted");
    expect(await isTold()).toBe(false);
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
