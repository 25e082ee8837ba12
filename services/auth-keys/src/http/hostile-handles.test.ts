import { beforeAll, describe, expect, test } from "@jest/globals";
import * as z from "zod";
import { sql } from "slonik";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { hostileHandles } from "../testing/hostile-handles.ts";
import { createRig, summarizeResponse } from "../testing/create-rig.ts";

const path = "/console/api/account";
const Count = z.object({ count: z.int() });

const rig = useRig(createRig);
let cookie: string;
let stateBefore: unknown;
beforeAll(async () => {
  ({ cookie } = await rig.signUp({ handle: "steadfast", username: "Steady" }));
  stateBefore = await readState();
});

/**
 * Reads everything that a rejected handle must not change: the account, and row counts of all
 * accounts.
 */
const readState = async () => ({
  account: (await rig.call("GET", path, { cookie })).body,
  handles: await rig.pool.oneFirst(sql.type(Count)`SELECT count(*)::int AS count FROM handles`),
  accounts: await rig.pool.oneFirst(sql.type(Count)`SELECT count(*)::int AS count FROM accounts`),
  events: await rig.pool.oneFirst(sql.type(Count)`SELECT count(*)::int AS count FROM outbox`),
  auditEntries: await rig.pool.oneFirst(
    sql.type(Count)`SELECT count(*)::int AS count FROM audit_log`,
  ),
});

/**
 * An operator's input is validated as a string with a maximum length before it is parsed as a
 * handle.
 */
const getOperatorErrorCode = (handle: string): string => {
  if (handle.length > 100) return "string_too_long";
  const isValidText = !handle.includes("\0") && handle.isWellFormed();
  return isValidText ? "INVALID_HANDLE" : "string_pattern_mismatch";
};

describe("a hostile handle", () => {
  test("is one of at least 40 examples", () => {
    expect(new Set(hostileHandles.map(([, input]) => input)).size).toBeGreaterThanOrEqual(40);
  });

  test.each(hostileHandles)(
    "%s: is rejected for the owner without any change",
    async (_why, handle) => {
      // The request also contains a valid change, so the test notices if a rejected request changes
      // anything.
      const response = await rig.call("PATCH", path, { cookie, body: { handle, bio: "changed" } });
      expect(summarizeResponse(response)).toBe("422 INVALID_HANDLE");
      expect(await readState()).toEqual(stateBefore);
    },
  );

  test.each(hostileHandles)(
    "%s: is rejected for an operator without creating an account",
    async (_why, handle) => {
      const body = { handle, username: "Nobody" };
      const response = await rig.call("POST", "/internal/accounts", { body });
      expect(summarizeResponse(response)).toBe(`422 ${getOperatorErrorCode(handle)}`);
      expect(await readState()).toEqual(stateBefore);
    },
  );

  test.each([
    ["null", null, "422 string_type"],
    ["a number", 12345, "422 string_type"],
    ["true", true, "422 string_type"],
    ["a list with one string", ["abc"], "422 string_type"],
    ["an object that resembles a string", { toString: "abc", length: 3 }, "422 string_type"],
  ])("%s is rejected as not a string", async (_why, handle, expected) => {
    const response = await rig.call("PATCH", path, { cookie, body: { handle } });
    expect(summarizeResponse(response)).toBe(expected);
    expect(await readState()).toEqual(stateBefore);
  });
});
