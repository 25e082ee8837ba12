import { describe, expect, test } from "@jest/globals";
import { sampleLink } from "../testing/samples.ts";
import { statusAt } from "./link.ts";

const expirationDate = new Date("2026-11-21T10:00:00.000Z");
const beforeExpiry = new Date(expirationDate.getTime() - 1);

describe("statusAt", () => {
  test("an active link is inactive from the instant of its expiry (rule STATE-3)", () => {
    const link = sampleLink({ expirationDate });
    expect([statusAt(link, beforeExpiry), statusAt(link, expirationDate)]).toEqual([
      "active",
      "inactive",
    ]);
  });

  test("a completed or inactive link keeps its status, and a link without an expiry never expires", () => {
    const farFuture = new Date("2100-01-01T00:00:00.000Z");
    expect(statusAt(sampleLink({ status: "completed", expirationDate }), farFuture)).toBe(
      "completed",
    );
    expect(statusAt(sampleLink({ status: "inactive", expirationDate }), beforeExpiry)).toBe(
      "inactive",
    );
    expect(statusAt(sampleLink(), farFuture)).toBe("active");
  });
});
