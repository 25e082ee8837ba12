import { expect, test } from "@jest/globals";
import * as z from "zod";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createOutgoingEvent, publish } from "./outbox.ts";
import { createTestSchema, createTestEventType } from "./testing/rig.ts";

const event = { ...createTestEventType("things.v1"), data: z.object({ text: z.string() }) };
const database = useRig(createTestSchema);

test("events that are published at once keep their order and each its own data, whatever is in it", async () => {
  const texts = ["", "two\nlines\r\n", String.raw`"quoted" \n {a,NULL}`, "\u0085\u2028é🙂", "last"];
  await database.pool.transaction((tx) =>
    publish(
      tx,
      texts.map((text) =>
        createOutgoingEvent(event, { key: text, occurredAt: new Date(), data: { text } }),
      ),
    ),
  );
  const { rows } = await database.admin.query<{ key: string; value: string }>(
    "SELECT key, value FROM outbox ORDER BY seq",
  );
  expect(rows).toEqual(texts.map((text) => ({ key: text, value: JSON.stringify({ text }) })));
});
