import { beforeAll, describe, expect, test } from "@jest/globals";
import { transact } from "@payment-links/postgres";
import { newId } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { haltChain, moveCheckpoint, acquireLeadership } from "../store/watchers.ts";
import { createRig } from "../testing/create-rig.ts";

/* A rejection is not a failure, so a rejected request must not cost the pool a connection. */

const sessionsMax = 5;
const haltedChain = newId("evt");

const rig = useRig(createRig);
beforeAll(async () => {
  const now = rig.clock.now();
  const acquireOptions = { chainId: haltedChain, now, until: new Date(now.getTime() + 1) };
  const leadership = await acquireLeadership(rig.pool, acquireOptions);
  if (leadership === undefined) throw new Error("the leadership was not acquired");
  const notStarted = { scannedTo: null, finalizedTo: null };
  await transact(rig.pool, async (tx) => {
    await moveCheckpoint(tx, leadership, notStarted, { scannedTo: 5, finalizedTo: 3 });
    await haltChain(tx, haltedChain, "a reorg too deep");
  });
});

const post = (path: string, body: object) =>
  fetch(`${rig.internalUrl}/internal/settlement/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

describe("200 rejections", () => {
  test.each([
    ["resume", 404, { chainId: "none", sharedBlock: 1 }],
    ["resume", 422, { chainId: haltedChain, sharedBlock: 5 }],
    ["rescan", 404, { chainId: "none", fromBlock: 1, toBlock: 2 }],
  ])("of %s with %d open no new database connections", async (path, status, body) => {
    const sessionCount = await rig.countNewSessions(async () => {
      expect((await post(path, body)).status).toBe(status);
    });
    expect(sessionCount).toBeLessThan(sessionsMax);
  });

  test("of unsigned notices open no new database connections", async () => {
    const sessionCount = await rig.countNewSessions(async () => {
      expect((await rig.post("acme", "{}", {})).status).toBe(401);
    });
    expect(sessionCount).toBeLessThan(sessionsMax);
  });
});
