import { expect, test } from "@jest/globals";
import * as z from "zod";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createOutgoingEvent, publish } from "./outbox.ts";
import { createTestSchema, createTestEventType } from "./testing/rig.ts";

const event = { ...createTestEventType("things.v1"), data: z.object({ text: z.string() }) };
const database = useRig(createTestSchema);

test("publish preserves the order and the exact data of several events", async () => {
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
