import { beforeAll, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { Decimal, type LinkStatus } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { openRig } from "../testing/open-rig.ts";
import { sampleAccount, sampleSettlement } from "../testing/samples.ts";
import { propertyRuns } from "@payment-links/contracts/testing/property-runs";

const rig = useRig(openRig);
let key: Record<string, string>;
let session: Record<string, string>;
beforeAll(async () => {
  const account = sampleAccount();
  key = rig.giveKey(account);
  session = rig.giveSession(account);
});

const expiryMs = 10_000;

/** A payment may come in steps, twice, late, to the wrong place; between payments things happen. */
const payment = fc.record({
  kind: fc.constant("payment" as const),
  micros: fc.integer({ min: 1, max: 4_000_000 }),
  startedMs: fc.integer({ min: 0, max: 2 * expiryMs }),
  flaw: fc.constantFrom("none", "none", "none", "none", "token", "destination", "digits"),
  statuses: fc.constantFrom<("processing" | "settled" | "failed")[]>(
    ["settled"],
    ["processing", "settled"],
    ["settled", "settled"],
    ["processing", "failed"],
    ["processing"],
  ),
});
const step = fc.oneof(
  { weight: 8, arbitrary: payment },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("deactivate" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("expire" as const) }) },
);
const story = fc.record({
  toMicros: fc.integer({ min: 1, max: 10_000_000 }),
  maxUsage: fc.option(fc.integer({ min: 1, max: 6 })),
  expires: fc.boolean(),
  steps: fc.array(step, { minLength: 1, maxLength: 12 }),
});

type Story = typeof story extends fc.Arbitrary<infer Value> ? Value : never;

const amountOf = (micros: number): string => new Decimal(micros).div(1_000_000).toFixed();

/** Rules STATE-2 to STATE-9 said again, over integers and without a database. */
const modelOf = (told: Story) => {
  const model = {
    status: "active" as LinkStatus,
    micros: 0,
    usage: 0,
    succeeded: 0,
    completed: 0,
    isDeactivated: false,
    reasons: [] as string[],
    pay: (one: Extract<Story["steps"][number], { kind: "payment" }>): void => {
      if (!one.statuses.includes("settled")) return;
      const reason =
        one.flaw === "token"
          ? "wrong_token"
          : one.flaw === "destination"
            ? "wrong_destination"
            : one.flaw === "digits"
              ? "wrong_amount"
              : model.status === "completed"
                ? "completed"
                : told.expires && one.startedMs >= expiryMs
                  ? "expired"
                  : model.isDeactivated
                    ? "inactive"
                    : "";
      model.reasons.push(reason);
      if (reason !== "") return;
      model.micros += one.micros;
      model.usage += 1;
      model.succeeded += 1;
      const isFull = model.micros >= told.toMicros;
      if (!isFull && (told.maxUsage === null || model.usage < told.maxUsage)) return;
      model.status = "completed";
      model.completed += 1;
    },
    deactivate: (): boolean => {
      if (model.status !== "active") return false;
      model.status = "inactive";
      model.isDeactivated = true;
      return true;
    },
    expire: (): void => {
      if (told.expires && model.status === "active") model.status = "inactive";
    },
  };
  return model;
};

const settlementsOf = (
  id: string,
  one: Extract<Story["steps"][number], { kind: "payment" }>,
  base: Date,
) => {
  const stranger = "0x0000000000000000000000000000000000000001";
  const first = sampleSettlement(id, {
    amount: amountOf(one.micros),
    occurredAt: new Date(base.getTime() + one.startedMs),
    ...(one.flaw === "token" ? { tokenAddress: stranger } : {}),
    ...(one.flaw === "destination" ? { destinationAddress: stranger } : {}),
  });
  const amount = one.flaw === "digits" ? first.amount.plus("0.0000001") : first.amount;
  return one.statuses.map((status, index) => ({ ...first, amount, status, version: index + 1 }));
};

test("whatever happens to a link, sum, usage, status, reasons and events are those of the rules (rules KEEP-1, KEEP-2, STATE-2, STATE-5, STATE-7, STATE-8 and STATE-9)", async () => {
  await fc.assert(
    fc.asyncProperty(story, async (told) => {
      const base = rig.clock.now();
      const id = await rig.createLink(key, {
        toAmount: amountOf(told.toMicros),
        maxUsage: told.maxUsage,
        ...(told.expires
          ? { expirationDate: new Date(base.getTime() + expiryMs).toISOString() }
          : {}),
      });
      const model = modelOf(told);
      for (const next of told.steps) {
        if (next.kind === "payment") {
          for (const settlement of settlementsOf(id, next, base)) await rig.settle(settlement);
          model.pay(next);
        } else if (next.kind === "expire") {
          rig.clock.advance(expiryMs);
          model.expire();
        } else {
          const path = `/console/api/payment-links/${id}/deactivate`;
          const answer = await rig.call(path, { method: "POST", headers: session });
          expect(answer.status).toBe(model.deactivate() ? 200 : 409);
        }
      }
      await expectLike(id, model);
    }),
    { ...propertyRuns({ commit: 20, soak: 60 }), endOnFailure: true },
  );
});

const expectLike = async (id: string, model: ReturnType<typeof modelOf>): Promise<void> => {
  const path = `/console/api/payment-links/${id}`;
  const { json: link } = await rig.call(path, { headers: session });
  expect(link).toMatchObject({ status: model.status, receivedAmount: amountOf(model.micros) });
  const settled = link.payments.filter(({ status }: { status: string }) => status === "settled");
  const reasons = settled.map(({ reason }: { reason: string | null }) => reason ?? "");
  expect(reasons.sort()).toEqual(model.reasons.sort());
  const applied = settled.filter((one: { applied: boolean }) => one.applied);
  const sum = Decimal.sum("0", ...applied.map(({ amount }: { amount: string }) => amount));
  expect(sum.toFixed()).toBe(link.receivedAmount);
  expect(applied).toHaveLength(model.usage);

  const events = await rig.eventsOf(id);
  const count = (type: string) => events.filter((event) => event.type === type).length;
  expect(count("payment_link.transaction.succeeded")).toBe(model.succeeded);
  expect(count("payment_link.completed")).toBe(model.completed);
  expect(events.map(({ data }) => data.link.version)).toEqual(events.map((_, index) => index + 1));
  expect(events.at(-1)?.data.link.currentUsage).toBe(model.usage);
};
