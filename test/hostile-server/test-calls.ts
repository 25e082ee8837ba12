import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { provokedTimeoutMs } from "@payment-links/runtime/testing/time-limits";
import { type PaymentLinks, createClient } from "../../packages/sdk/src/create-client.ts";
import { NoAnswerError, PaymentLinksError } from "../../packages/sdk/src/errors.ts";
import { type Random, createRandom } from "../simulation/random.ts";
import { parseFaultMix } from "./faults.ts";
import { type HostileServer, startHostileServer } from "./start-hostile-server.ts";

const seed = 20_261_130;
/** Few, so that no response takes longer than the timeout on a busy machine. */
const parallelCallsMax = 8;

type CreateCall = {
  key: string | undefined;
  toAmount: string;
  /** The result of the call and of its repetitions, in order. */
  outcomes: (string | Error)[];
};

/** Stalled attempts take their timeout in real time. All other waits are virtual. */
const createTestClient = (url: string, random: Random): PaymentLinks => {
  let keyCount = 0;
  return createClient(
    { url, apiKey: "plk_1", timeoutMs: provokedTimeoutMs(1_000) },
    {
      wait: async () => {},
      random: () => random.next(),
      newIdempotencyKey: () => `drawn-${++keyCount}`,
      now: () => performance.now(),
    },
  );
};

/** Creates a link. After an error, half of the programs repeat the call with its key. */
const runCreate = async (
  client: PaymentLinks,
  call: CreateCall,
  isRepeated: boolean,
): Promise<void> => {
  let idempotencyKey = call.key;
  for (let run = 0; run < (isRepeated ? 3 : 1); run += 1) {
    try {
      const options = idempotencyKey === undefined ? {} : { idempotencyKey };
      call.outcomes.push((await client.createPaymentLink({ toAmount: call.toAmount }, options)).id);
      return;
    } catch (error) {
      call.outcomes.push(error as Error);
      if (!(error instanceof PaymentLinksError || error instanceof NoAnswerError)) return;
      ({ idempotencyKey } = error);
    }
  }
};

const isTyped = (outcome: string | Error): boolean =>
  typeof outcome === "string" ||
  outcome instanceof PaymentLinksError ||
  outcome instanceof NoAnswerError;

/** Tests calls of the SDK to a server that fails in every way (rules API-19 and ERROR-4). */
export const testCalls = (callCount: number): void => {
  let server: HostileServer;
  const creates: CreateCall[] = [];
  /** The links that reads returned, and the errors of reads. */
  const readLinks: { id: string; toAmount: string }[] = [];
  const readErrors: unknown[] = [];

  beforeAll(async () => {
    server = await startHostileServer({ seed, faults: parseFaultMix("") });
    const random = createRandom(seed);
    const client = createTestClient(server.url, random);
    const read = async () => {
      const knownIds = creates.flatMap(({ outcomes }) =>
        outcomes.filter((id) => typeof id === "string"),
      );
      try {
        if (random.chance(0.5) || knownIds.length === 0) {
          const page = await client.listPaymentLinks({ offset: random.below(knownIds.length + 1) });
          readLinks.push(...page.data);
        } else {
          const id = random.pick(knownIds);
          const link = await client.retrievePaymentLink(id);
          expect(link.id).toBe(id);
          readLinks.push(link);
        }
      } catch (error) {
        readErrors.push(error);
      }
    };
    const runCall = async (number: number): Promise<void> => {
      if (random.chance(0.1)) {
        await read();
        return;
      }
      const key = random.chance(0.5) ? `order-${number}` : undefined;
      const toAmount = `${1 + random.below(1_000)}.${1 + random.below(999_999)}`;
      const call = { key, toAmount, outcomes: [] };
      creates.push(call);
      await runCreate(client, call, random.chance(0.5));
    };
    let startedCount = 0;
    const work = async () => {
      while (startedCount < callCount) await runCall((startedCount += 1));
    };
    await Promise.all(Array.from({ length: parallelCallsMax }, work));
  });
  afterAll(() => server?.close());

  test("never create two links for one call", () => {
    const entries = server.listAll();
    const keys = entries.map(({ idempotencyKey }) => idempotencyKey);
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys).not.toContain(null);
    expect(entries.length).toBeLessThanOrEqual(creates.length);
    // Each repetition of a call results in the same link.
    const ids = creates.flatMap(({ outcomes }) => outcomes.filter((id) => typeof id === "string"));
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("never result in a wrong amount", () => {
    const entries = server.listAll();
    const amountsById = new Map(entries.map(({ link }) => [link.id, link.toAmount]));
    for (const { outcomes, toAmount } of creates) {
      const id = outcomes.at(-1);
      if (typeof id === "string") expect(amountsById.get(id)).toBe(toAmount);
    }
    const amountsByKey = new Map(
      entries.map((entry) => [entry.idempotencyKey, entry.link.toAmount]),
    );
    for (const { key = null, toAmount } of creates) {
      if (key !== null) expect([toAmount, undefined]).toContain(amountsByKey.get(key));
    }
    for (const { id, toAmount } of readLinks) expect(amountsById.get(id)).toBe(toAmount);
  });

  test("each end in a result or in a typed error, which has the idempotency key of a create", () => {
    const outcomes = creates.flatMap((call) => call.outcomes);
    expect(outcomes.filter((outcome) => !isTyped(outcome))).toEqual([]);
    const errors = outcomes.filter((outcome) => outcome instanceof Error);
    for (const error of errors) expect(error).toHaveProperty("idempotencyKey", expect.any(String));
    expect(readErrors.filter((error) => !isTyped(error as Error))).toEqual([]);
    expect(creates.every((call) => call.outcomes.length > 0)).toBe(true);
    expect(creates.length + readErrors.length).toBeGreaterThan(0.85 * callCount);
  });

  test("mostly succeed, and meet every fault", () => {
    const succeeded = creates.filter(({ outcomes }) => typeof outcomes.at(-1) === "string");
    expect(succeeded.length).toBeGreaterThan(0.9 * creates.length);
    const kinds = ["none", ...Object.keys(parseFaultMix(""))];
    expect(Object.keys(server.faultCounts()).sort()).toEqual(kinds.sort());
    expect(readLinks.length).toBeGreaterThan(0);
  });
};
