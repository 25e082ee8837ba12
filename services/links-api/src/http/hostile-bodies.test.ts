import { beforeAll, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createRig } from "../testing/create-rig.ts";
import { sampleAccount } from "../testing/samples.ts";
import { getPropertyRunOptions } from "@payment-links/runtime/testing/property-runs";

const rig = useRig(createRig);
let keyHeaders: Record<string, string>;
beforeAll(async () => {
  keyHeaders = rig.createKeyHeaders(sampleAccount());
});

/** This is CPU time, because elapsed time also depends on the load of the machine. */
const batchCpuMsMax = 1_000;
const concurrentRequests = 8;
const batches = getPropertyRunOptions({ soak: 1_250 });

const arbitraryNumberText = fc.oneof(
  fc.double().map(String),
  fc.bigInt().map(String),
  fc.tuple(fc.integer(), fc.integer()).map(([digits, exponent]) => `${digits}e${exponent}`),
  fc.constantFrom("1e999999999", "-0", "0.1", "1e-7", "9".repeat(400), "0x10", "١٢"),
);
const arbitraryHostileText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 600 }),
  fc.string({ unit: "grapheme", maxLength: 600 }),
  arbitraryNumberText,
  fc.constantFrom("\0", "\ud800", "NaN", "Infinity", "2027-01-01", "2027-02-30T25:00Z", "'; --"),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
);
/** JSON as text, so that numbers with more digits than a float can hold are sent unchanged. */
const arbitraryJsonText = fc.oneof(
  arbitraryHostileText.map((text) => JSON.stringify(text)),
  arbitraryNumberText,
  fc.constantFrom("null", "true", "[]", "{}", '{"__proto__":1}'),
  fc.json({ maxDepth: 4 }),
);
const arbitraryField = fc.constantFrom(
  "toAmount",
  "description",
  "maxUsage",
  "expirationDate",
  "__proto__",
  "constructor",
  "id",
);
const arbitraryObject = fc
  .array(fc.tuple(arbitraryField, arbitraryJsonText), { maxLength: 6 })
  .map((members) => `{${members.map(([name, value]) => `"${name}":${value}`).join(",")}}`);
/**
 * Bodies that are valid except for some random parts, to test that a body that passes the first
 * checks does not break later ones.
 */
const arbitraryNearlyValid = fc
  .record({
    amount: fc.oneof(
      { weight: 3, arbitrary: fc.integer({ min: 1 }).map((micros) => `"${micros}e-6"`) },
      { weight: 1, arbitrary: arbitraryJsonText },
    ),
    text: arbitraryHostileText,
    usage: fc.oneof(fc.integer().map(String), arbitraryJsonText),
    expiry: fc.oneof(fc.constant('"9999-12-31"'), fc.constant("null"), arbitraryJsonText),
  })
  .map(
    ({ amount, text, usage, expiry }) =>
      `{"toAmount":${amount},"description":${JSON.stringify(text)},` +
      `"maxUsage":${usage},"expirationDate":${expiry}}`,
  );
const arbitraryDeepNesting = fc.integer({ min: 1, max: 20_000 }).map((depth) => "[".repeat(depth));
const arbitraryBody = fc.oneof(
  { weight: 5, arbitrary: arbitraryObject },
  { weight: 5, arbitrary: arbitraryNearlyValid },
  { weight: 2, arbitrary: arbitraryJsonText },
  { weight: 1, arbitrary: arbitraryDeepNesting },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes)) },
);

// Guards against bodies that make our own code fail or that cost too much CPU time.
test(`given ${batches.numRuns * concurrentRequests} generated bodies, no response is a 5xx and no batch takes more than 1 s of CPU time`, async () => {
  const statuses = new Map<number, number>();
  const send = async (body: string | Buffer): Promise<void> => {
    const response = await rig.call("/v1/payment-link", {
      method: "POST",
      headers: keyHeaders,
      body,
    });
    statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
    if (response.status !== 200 && response.status !== 422)
      throw new Error(`unexpected status ${response.status}`);
    if (response.status === 422) {
      const [firstError] = response.json.errors;
      if (typeof firstError.code !== "string")
        throw new Error(`missing error code: ${response.text}`);
    }
  };
  const arbitraryBatch = fc.array(arbitraryBody, {
    minLength: concurrentRequests,
    maxLength: concurrentRequests,
  });
  await fc.assert(
    fc.asyncProperty(arbitraryBatch, async (bodies) => {
      const usageBefore = process.cpuUsage();
      await Promise.all(bodies.map(send));
      const { user, system } = process.cpuUsage(usageBefore);
      const cpuMs = (user + system) / 1000;
      if (cpuMs > batchCpuMsMax) throw new Error(`the batch used ${cpuMs} ms of CPU time`);
    }),
    { ...batches, endOnFailure: true },
  );
  // Both statuses must occur often. Otherwise the generated bodies would not test both the success
  // and the validation paths.
  expect(statuses.get(200)).toBeGreaterThan(batches.numRuns / 20);
  expect(statuses.get(422)).toBeGreaterThan(batches.numRuns);
});
