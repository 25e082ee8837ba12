import { describe, expect, test } from "@jest/globals";
import { createHeldClock } from "@payment-links/runtime";
import { rememberAnswers } from "./remember-answers.ts";

/** DNS that answers when it is told to, and how often it was asked. */
const openDns = () => {
  const asked: PromiseWithResolvers<readonly string[]>[] = [];
  const clock = createHeldClock(new Date("2026-11-21T10:00:00.000Z"));
  const resolve = rememberAnswers(
    () => {
      const question = Promise.withResolvers<readonly string[]>();
      asked.push(question);
      return question.promise;
    },
    { clock },
  );
  return { asked, clock, resolve };
};

describe("rememberAnswers", () => {
  test("asks once for those that come while it is being asked, and for ten seconds after (rule HOOK-4)", async () => {
    const { asked, clock, resolve } = openDns();
    const both = Promise.all([resolve("shop.com"), resolve("shop.com")]);
    asked[0]?.resolve(["93.184.216.34"]);
    expect(await both).toEqual([["93.184.216.34"], ["93.184.216.34"]]);
    clock.advance(10_000 - 1);
    await resolve("shop.com");
    expect(asked).toHaveLength(1);
    clock.advance(1);
    void resolve("shop.com");
    expect(asked).toHaveLength(2);
  });

  test("asks no later where the machine's clock is set back", async () => {
    const { asked, clock, resolve } = openDns();
    void resolve("shop.com");
    clock.setBack(3_600_000);
    clock.advance(10_000);
    void resolve("shop.com");
    expect(asked).toHaveLength(2);
  });

  test("tells hosts apart", () => {
    const { asked, resolve } = openDns();
    void resolve("shop.com");
    void resolve("other.com");
    expect(asked).toHaveLength(2);
  });

  test("forgets a question without an answer, and not the one that came after it", async () => {
    const { asked, clock, resolve } = openDns();
    const first = resolve("shop.com");
    clock.advance(10_000);
    const second = resolve("shop.com");
    asked[0]?.reject(new Error("SERVFAIL"));
    await expect(first).rejects.toThrow("SERVFAIL");
    expect(resolve("shop.com")).toBe(second);
    asked[1]?.reject(new Error("SERVFAIL"));
    await expect(second).rejects.toThrow("SERVFAIL");
    void resolve("shop.com");
    expect(asked).toHaveLength(3);
  });
});
