import { beforeAll, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { openRig } from "../testing/open-rig.ts";
import { sampleAccount } from "../testing/samples.ts";
import { propertyRuns } from "@payment-links/contracts/testing/property-runs";

const rig = useRig(openRig);
let key: Record<string, string>;
beforeAll(async () => {
  key = rig.giveKey(sampleAccount());
});

/** Of the processor: how long it took by the clock says as much of what else the machine does. */
const batchCpuMsMax = 1_000;
const atOnce = 8;
const batches = propertyRuns({ soak: 1_250 });

const numberText = fc.oneof(
  fc.double().map(String),
  fc.bigInt().map(String),
  fc.tuple(fc.integer(), fc.integer()).map(([digits, exponent]) => `${digits}e${exponent}`),
  fc.constantFrom("1e999999999", "-0", "0.1", "1e-7", "9".repeat(400), "0x10", "١٢"),
);
const hostileText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 600 }),
  fc.string({ unit: "grapheme", maxLength: 600 }),
  numberText,
  fc.constantFrom("\0", "\ud800", "NaN", "Infinity", "2027-01-01", "2027-02-30T25:00Z", "'; --"),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
);
/** JSON text, so that numbers which no binary float can hold arrive as they were written. */
const jsonText = fc.oneof(
  hostileText.map((text) => JSON.stringify(text)),
  numberText,
  fc.constantFrom("null", "true", "[]", "{}", '{"__proto__":1}'),
  fc.json({ maxDepth: 4 }),
);
const field = fc.constantFrom(
  "toAmount",
  "description",
  "maxUsage",
  "expirationDate",
  "__proto__",
  "constructor",
  "id",
);
const object = fc
  .array(fc.tuple(field, jsonText), { maxLength: 6 })
  .map((members) => `{${members.map(([name, value]) => `"${name}":${value}`).join(",")}}`);
/** Right except for random parts: what passes the first check must not break a later one. */
const nearlyRight = fc
  .record({
    amount: fc.oneof(
      { weight: 3, arbitrary: fc.integer({ min: 1 }).map((micros) => `"${micros}e-6"`) },
      { weight: 1, arbitrary: jsonText },
    ),
    text: hostileText,
    usage: fc.oneof(fc.integer().map(String), jsonText),
    expiry: fc.oneof(fc.constant('"9999-12-31"'), fc.constant("null"), jsonText),
  })
  .map(
    ({ amount, text, usage, expiry }) =>
      `{"toAmount":${amount},"description":${JSON.stringify(text)},` +
      `"maxUsage":${usage},"expirationDate":${expiry}}`,
  );
const deep = fc.integer({ min: 1, max: 20_000 }).map((depth) => "[".repeat(depth));
const body = fc.oneof(
  { weight: 5, arbitrary: object },
  { weight: 5, arbitrary: nearlyRight },
  { weight: 2, arbitrary: jsonText },
  { weight: 1, arbitrary: deep },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes)) },
);

// Guards against bodies that our own code cannot read, or that cost it more than they should.
test(`given ${batches.numRuns * atOnce} generated bodies, none is answered with 5xx, and none costs more than 1 s`, async () => {
  const statuses = new Map<number, number>();
  const send = async (hostile: string | Buffer): Promise<void> => {
    const answer = await rig.call("/v1/payment-link", {
      method: "POST",
      headers: key,
      body: hostile,
    });
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    if (answer.status !== 200 && answer.status !== 422) throw new Error(`status ${answer.status}`);
    if (answer.status === 422) {
      const [first] = answer.json.errors;
      if (typeof first.code !== "string") throw new Error(`no code: ${answer.text}`);
    }
  };
  const batch = fc.array(body, { minLength: atOnce, maxLength: atOnce });
  await fc.assert(
    fc.asyncProperty(batch, async (bodies) => {
      const before = process.cpuUsage();
      await Promise.all(bodies.map(send));
      const { user, system } = process.cpuUsage(before);
      const tookMs = (user + system) / 1000;
      if (tookMs > batchCpuMsMax) throw new Error(`answered with ${tookMs} ms of a processor`);
    }),
    { ...batches, endOnFailure: true },
  );
  // Both kinds of answer occurred; otherwise the bodies were only noise.
  expect(statuses.get(200)).toBeGreaterThan(batches.numRuns / 20);
  expect(statuses.get(422)).toBeGreaterThan(batches.numRuns);
});
