import assert from "node:assert";
import { describe, expect, test } from "@jest/globals";
import { BackendTerminatedError, NotFoundError, StatementTimeoutError } from "slonik";
import * as z from "zod";
import { refuse } from "@payment-links/contracts";
import { classifyFailure } from "./failure.ts";

const coded = (code: string, message = "failed") => Object.assign(new Error(message), { code });

const thrownBy = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return error;
  }
};

describe("what kind of failure an error is", () => {
  test.each([
    ["a database that refuses connections", coded("ECONNREFUSED")],
    ["a backend that was shut down", new BackendTerminatedError(coded("57P01"))],
    ["a statement that took too long", new StatementTimeoutError(coded("57014"))],
    ["a deadlock", coded("40P01")],
    ["too many connections", coded("53300")],
    ["a primary that became a replica", coded("25006")],
    ["a connection that died between two statements", new Error("Client is destroyed.")],
    ["an error caused by such a one", new Error("outer", { cause: coded("ECONNRESET") })],
  ])("%s is transient", (_, error) => {
    expect(classifyFailure(error)).toBe("transient");
  });

  test.each([
    ["a refusal", refuse("NOT_FOUND")],
    ["a broken invariant", thrownBy(() => assert.ok(false))],
    ["a breach of a schema", thrownBy(() => z.string().parse(1))],
    ["a row that must be there and is not", new NotFoundError("none", { sql: "", values: [] })],
    ["a value that its column cannot hold", coded("22003")],
  ])("%s is permanent", (_, error) => {
    expect(classifyFailure(error)).toBe("permanent");
  });

  test.each([
    ["a defect", new TypeError("x is undefined")],
    ["a constraint, which may be a race", coded("23505")],
    ["what is no error", "text"],
  ])("%s is unknown", (_, error) => {
    expect(classifyFailure(error)).toBe("unknown");
  });
});
