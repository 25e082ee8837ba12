import { expect, test } from "@jest/globals";
import { transact } from "@payment-links/postgres";
import { countLockWaits } from "@payment-links/postgres/testing";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { sql } from "slonik";
import * as z from "zod";
import { deleteEndpoint, lockEndpoints } from "../store/endpoints.ts";
import { createRig } from "../testing/create-rig.ts";

const rig = useRig(createRig);

const CountRow = z.object({ count: z.int() });

// Guards against a delivery to an endpoint that is deleted while its event is being processed.
test("an event waits for changes of its owner's endpoints and then uses the new state (rule KEEP-3)", async () => {
  const person = rig.signIn();
  const { id } = await rig.register(person);
  await rig.service.start();
  const locked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const deleting = transact(rig.pool, async (tx) => {
    await lockEndpoints(tx, person.userId);
    locked.resolve();
    await released.promise;
    await deleteEndpoint(tx, { id, userId: person.userId }, rig.clock.now());
  });
  await locked.promise;
  const published = rig.publishCompleted(person);
  await waitUntil("the event waits for a lock", async () => (await countLockWaits(rig.pool)) > 0);
  released.resolve();
  await Promise.all([deleting, published]);
  const count = await rig.pool.oneFirst(sql.type(CountRow)`
    SELECT count(*)::int AS count FROM deliveries WHERE endpoint_id = ${id}
  `);
  expect(count).toBe(0);
});
