import { describe, expect, test } from "@jest/globals";
import { loadCatalogue } from "@payment-links/contracts";
import { sqlVoid } from "@payment-links/postgres";
import { systemClock } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import type { Dependencies } from "./dependencies.ts";
import { createPublicRoutes } from "./routes.ts";
import { createRig } from "./testing/create-rig.ts";

const rig = useRig(createRig);

/**
 * The list is generated from the route table, so that every new route is covered. Building the
 * table does not call any dependency, so these two are enough.
 */
const sessionRequests = createPublicRoutes({
  catalogue: loadCatalogue(),
  clock: systemClock,
} as Dependencies)
  .filter(({ caller }) => caller.by === "session")
  .map(({ method, path }) => [method.toUpperCase(), path.replace(":id", "some_id")] as const);

describe("every console route", () => {
  // Passkeys are unavailable, because the test's origin is an IP address.
  const readRequests = sessionRequests.filter(
    ([method, path]) => method === "GET" && !path.endsWith("/creation"),
  );
  test.each(readRequests)("%s %s disables caching", async (method, path) => {
    const { cookie } = await rig.signUp();
    const response = await rig.call(method, path, { cookie });
    expect([response.status, response.headers.get("cache-control")]).toEqual([200, "no-store"]);
  });
});

describe("the audit log", () => {
  test.each([
    ["updated", sqlVoid`UPDATE audit_log SET action = 'nothing.happened'`],
    ["deleted", sqlVoid`DELETE FROM audit_log`],
  ])("cannot be %s by the service's own role", async (_name, statement) => {
    await rig.createAccount();
    await expect(rig.pool.query(statement)).rejects.toThrow(/append-only/);
  });
});

describe("a started service", () => {
  test("publishes each change completely and in order right after its commit", async () => {
    const ownRig = await createRig();
    try {
      const receivedEvents: { type: string; version: number }[] = [];
      await ownRig.bus.subscribe({
        group: "listener",
        topics: ["accounts.v1"],
        handle: (records) => {
          for (const { headers, value } of records) {
            const { version } = JSON.parse(String(value));
            receivedEvents.push({ type: headers["ce_type"] ?? "", version });
          }
          return Promise.resolve({ handledCount: records.length });
        },
      });
      await ownRig.service.start();
      expect(await ownRig.service.isReady()).toBe(true);
      const { cookie } = await ownRig.signUp();
      for (const bio of ["one", "two", "three"]) {
        await ownRig.call("PATCH", "/console/api/account", { cookie, body: { bio } });
      }
      // The clock stands still, so these can only have been published by the wake-up after each
      // commit.
      await waitUntil("four events are received", () => receivedEvents.length === 4);
      expect(receivedEvents).toEqual(
        [1, 2, 3, 4].map((version) => ({ type: "account.updated", version })),
      );
    } finally {
      await ownRig.close();
    }
  });
});
