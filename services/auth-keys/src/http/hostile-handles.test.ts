import { beforeAll, describe, expect, test } from "@jest/globals";
import * as z from "zod";
import { sql } from "slonik";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { hostileHandles } from "../testing/hostile-handles.ts";
import { openRig, refusalOf } from "../testing/open-rig.ts";

const path = "/console/api/account";
const Count = z.object({ count: z.int() });

const rig = useRig(openRig);
let cookie: string;
let before: unknown;
beforeAll(async () => {
  ({ cookie } = await rig.signUp({ handle: "steadfast", username: "Steady" }));
  before = await stateOf();
});

/** Everything that a handle could have changed: the account, and the rows of any account. */
const stateOf = async () => ({
  account: (await rig.call("GET", path, { cookie })).body,
  handles: await rig.pool.oneFirst(sql.type(Count)`SELECT count(*)::int AS count FROM handles`),
  accounts: await rig.pool.oneFirst(sql.type(Count)`SELECT count(*)::int AS count FROM accounts`),
  events: await rig.pool.oneFirst(sql.type(Count)`SELECT count(*)::int AS count FROM outbox`),
  deeds: await rig.pool.oneFirst(sql.type(Count)`SELECT count(*)::int AS count FROM audit_log`),
});

/** What an operator types is a bounded text before it is a handle. */
const codeForOperator = (handle: string): string => {
  if (handle.length > 100) return "string_too_long";
  const isText = !handle.includes("\0") && handle.isWellFormed();
  return isText ? "INVALID_HANDLE" : "string_pattern_mismatch";
};

describe("a hostile handle", () => {
  test("is one of at least forty", () => {
    expect(new Set(hostileHandles.map(([, typed]) => typed)).size).toBeGreaterThanOrEqual(40);
  });

  test.each(hostileHandles)(
    "%s: is refused to its owner, and nothing changes",
    async (_why, handle) => {
      // Together with a good change: a refused request changes nothing at all.
      const answer = await rig.call("PATCH", path, { cookie, body: { handle, bio: "changed" } });
      expect(refusalOf(answer)).toBe("422 INVALID_HANDLE");
      expect(await stateOf()).toEqual(before);
    },
  );

  test.each(hostileHandles)(
    "%s: is refused to an operator, and no account is made",
    async (_why, handle) => {
      const body = { handle, username: "Nobody" };
      const answer = await rig.call("POST", "/internal/accounts", { body });
      expect(refusalOf(answer)).toBe(`422 ${codeForOperator(handle)}`);
      expect(await stateOf()).toEqual(before);
    },
  );

  test.each([
    ["null", null, "422 string_type"],
    ["a number", 12345, "422 string_type"],
    ["true", true, "422 string_type"],
    ["a list of one", ["abc"], "422 string_type"],
    ["an object that says it is a text", { toString: "abc", length: 3 }, "422 string_type"],
  ])("%s is no text", async (_why, handle, expected) => {
    const answer = await rig.call("PATCH", path, { cookie, body: { handle } });
    expect(refusalOf(answer)).toBe(expected);
    expect(await stateOf()).toEqual(before);
  });
});
