import { describe, expect, test } from "@jest/globals";
import { storyKinds } from "@payment-links/contracts";
import { ownPlaces, readPlace, showPlace } from "./link-story.ts";

const at = (second: number) => new Date(Date.UTC(2026, 10, 21, 10, 0, second));
const link = {
  status: "active" as const,
  createdAt: at(0),
  expiresAt: null,
  deactivatedAt: null,
  lastTransactionId: null,
  lastAppliedAt: null,
};
const paid = (second: number) => ({
  status: "completed" as const,
  lastTransactionId: "tx_1",
  lastAppliedAt: at(second),
});

describe("what happened with a link itself", () => {
  test.each([
    ["nothing yet", {}, []],
    ["partly paid", { lastTransactionId: "tx_1", lastAppliedAt: at(1) }, []],
    ["to expire later", { expiresAt: at(10) }, []],
    ["expired just now", { expiresAt: at(9) }, [["expired", 9, null]]],
    ["completed", paid(5), [["completed", 5, "tx_1"]]],
    ["completed before its expiry", { ...paid(5), expiresAt: at(6) }, [["completed", 5, "tx_1"]]],
    [
      "completed at the very instant of its expiry",
      { ...paid(6), expiresAt: at(6) },
      [
        ["expired", 6, null],
        ["completed", 6, "tx_1"],
      ],
    ],
    [
      "completed by a payment that was started before its expiry",
      { ...paid(7), expiresAt: at(6) },
      [
        ["expired", 6, null],
        ["completed", 7, "tx_1"],
      ],
    ],
    ["deactivated", { deactivatedAt: at(4) }, [["deactivated", 4, null]]],
    [
      "deactivated before its expiry",
      { deactivatedAt: at(4), expiresAt: at(6) },
      [["deactivated", 4, null]],
    ],
  ] as const)("%s", (_name, more, told) => {
    const places = ownPlaces({ ...link, ...more }, at(9));
    const shown = places.map((place) => [place.kind, place.at, place.paymentId]);
    const expected = told.map(([kind, second, paymentId]) => [kind, at(second), paymentId]);
    expect(shown).toEqual([["created", at(0), null], ...expected]);
  });
});

describe("a place in a story", () => {
  test.each(storyKinds)("comes back as it was told: %s", (kind) => {
    for (const paymentId of [null, `tx_${"0".repeat(26)}`]) {
      const place = { at: at(1), kind, paymentId };
      expect(readPlace(showPlace(place))).toEqual(place);
    }
  });
});
