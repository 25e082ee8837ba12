import { beforeAll, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { Decimal, type LinkStatus } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createRig } from "../testing/create-rig.ts";
import { sampleAccount, sampleSettlement } from "../testing/samples.ts";
import { getPropertyRunOptions } from "@payment-links/runtime/testing/property-runs";

const rig = useRig(createRig);
let keyHeaders: Record<string, string>;
let sessionHeaders: Record<string, string>;
beforeAll(async () => {
  const account = sampleAccount();
  keyHeaders = rig.createKeyHeaders(account);
  sessionHeaders = rig.createSessionHeaders(account);
});

const expiryMs = 10_000;

/**
 * A payment can arrive in several steps, twice, late or at the wrong destination. Other operations
 * can happen between payments.
 */
const arbitraryPayment = fc.record({
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
const arbitraryStep = fc.oneof(
  { weight: 8, arbitrary: arbitraryPayment },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("deactivate" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("expire" as const) }) },
);
const arbitraryScenario = fc.record({
  toMicros: fc.integer({ min: 1, max: 10_000_000 }),
  maxUsage: fc.option(fc.integer({ min: 1, max: 6 })),
  hasExpiry: fc.boolean(),
  steps: fc.array(arbitraryStep, { minLength: 1, maxLength: 12 }),
});

type Scenario = typeof arbitraryScenario extends fc.Arbitrary<infer Value> ? Value : never;

const toAmount = (micros: number): string => new Decimal(micros).div(1_000_000).toFixed();

/**
 * A second implementation of the rules STATE-2 to STATE-9, with integers and without a database.
 */
const createModel = (scenario: Scenario) => {
  const model = {
    status: "active" as LinkStatus,
    micros: 0,
    usage: 0,
    succeededCount: 0,
    completedCount: 0,
    isDeactivated: false,
    reasons: [] as string[],
    applyPayment: (payment: Extract<Scenario["steps"][number], { kind: "payment" }>): void => {
      if (!payment.statuses.includes("settled")) return;
      const reason =
        payment.flaw === "token"
          ? "wrong_token"
          : payment.flaw === "destination"
            ? "wrong_destination"
            : payment.flaw === "digits"
              ? "wrong_amount"
              : model.status === "completed"
                ? "completed"
                : scenario.hasExpiry && payment.startedMs >= expiryMs
                  ? "expired"
                  : model.isDeactivated
                    ? "inactive"
                    : "";
      model.reasons.push(reason);
      if (reason !== "") return;
      model.micros += payment.micros;
      model.usage += 1;
      model.succeededCount += 1;
      const isFull = model.micros >= scenario.toMicros;
      if (!isFull && (scenario.maxUsage === null || model.usage < scenario.maxUsage)) return;
      model.status = "completed";
      model.completedCount += 1;
    },
    deactivate: (): boolean => {
      if (model.status !== "active") return false;
      model.status = "inactive";
      model.isDeactivated = true;
      return true;
    },
    expire: (): void => {
      if (scenario.hasExpiry && model.status === "active") model.status = "inactive";
    },
  };
  return model;
};

const createSettlements = (
  id: string,
  payment: Extract<Scenario["steps"][number], { kind: "payment" }>,
  startTime: Date,
) => {
  const otherAddress = "0x0000000000000000000000000000000000000001";
  const baseSettlement = sampleSettlement(id, {
    amount: toAmount(payment.micros),
    occurredAt: new Date(startTime.getTime() + payment.startedMs),
    ...(payment.flaw === "token" ? { tokenAddress: otherAddress } : {}),
    ...(payment.flaw === "destination" ? { destinationAddress: otherAddress } : {}),
  });
  const amount =
    payment.flaw === "digits" ? baseSettlement.amount.plus("0.0000001") : baseSettlement.amount;
  return payment.statuses.map((status, index) => ({
    ...baseSettlement,
    amount,
    status,
    version: index + 1,
  }));
};

test("sum, usage, status, reasons and events follow the rules for any sequence of operations (rules KEEP-1, KEEP-2, STATE-2, STATE-5, STATE-7, STATE-8, STATE-9 and HOOK-21)", async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryScenario, async (scenario) => {
      const startTime = rig.clock.now();
      const id = await rig.createLink(keyHeaders, {
        toAmount: toAmount(scenario.toMicros),
        maxUsage: scenario.maxUsage,
        ...(scenario.hasExpiry
          ? { expirationDate: new Date(startTime.getTime() + expiryMs).toISOString() }
          : {}),
      });
      const model = createModel(scenario);
      for (const step of scenario.steps) {
        if (step.kind === "payment") {
          for (const settlement of createSettlements(id, step, startTime))
            await rig.settle(settlement);
          model.applyPayment(step);
        } else if (step.kind === "expire") {
          rig.clock.advance(expiryMs);
          model.expire();
        } else {
          const path = `/console/api/payment-links/${id}/deactivate`;
          const response = await rig.call(path, { method: "POST", headers: sessionHeaders });
          expect(response.status).toBe(model.deactivate() ? 200 : 409);
        }
      }
      await expectMatchesModel(id, model);
    }),
    { ...getPropertyRunOptions({ commit: 20, soak: 60 }), endOnFailure: true },
  );
});

const expectMatchesModel = async (
  id: string,
  model: ReturnType<typeof createModel>,
): Promise<void> => {
  const path = `/console/api/payment-links/${id}`;
  const { json: link } = await rig.call(path, { headers: sessionHeaders });
  expect(link).toMatchObject({ status: model.status, receivedAmount: toAmount(model.micros) });
  const settled = link.payments.filter(({ status }: { status: string }) => status === "settled");
  const reasons = settled.map(({ reason }: { reason: string | null }) => reason ?? "");
  expect(reasons.sort()).toEqual(model.reasons.sort());
  const applied = settled.filter((payment: { applied: boolean }) => payment.applied);
  const sum = Decimal.sum("0", ...applied.map(({ amount }: { amount: string }) => amount));
  expect(sum.toFixed()).toBe(link.receivedAmount);
  expect(applied).toHaveLength(model.usage);

  const events = await rig.listEvents(id);
  const countEvents = (type: string) => events.filter((event) => event.type === type).length;
  expect(countEvents("payment_link.transaction.succeeded")).toBe(model.succeededCount);
  expect(countEvents("payment_link.completed")).toBe(model.completedCount);
  const publishedReasons = events
    .filter(({ type }) => type === "payment_link.transaction.unapplied")
    .map(({ data }): string => data.transaction.reason);
  expect(publishedReasons.sort()).toEqual(model.reasons.filter((reason) => reason !== "").sort());
  expect(events.map(({ data }) => data.link.version)).toEqual(events.map((_, index) => index + 1));
  expect(events.at(-1)?.data.link.currentUsage).toBe(model.usage);
};
