import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { provokedTimeoutMs } from "@payment-links/runtime/testing/time-limits";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { type PaymentLinks, createClient } from "../packages/sdk/src/create-client.ts";
import { NoAnswerError, PaymentLinksError } from "../packages/sdk/src/errors.ts";
import { createRig } from "../services/links-api/src/testing/create-rig.ts";
import { sampleAccount } from "../services/links-api/src/testing/samples.ts";
import { parseFaultMix } from "./hostile-server/faults.ts";
import { type HostileServer, startHostileServer } from "./hostile-server/start-hostile-server.ts";
import { type Random, createRandom } from "./simulation/random.ts";

const seed = 20_261_130;
const callCount = 10_000;
const parallelCallsMax = 64;

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
    { url, apiKey: "plk_1", timeoutMs: provokedTimeoutMs(500) },
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

describe("10,000 calls of the SDK to a server that fails in every way (rules API-19 and ERROR-4)", () => {
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
});

describe("without faults, the server creates links like the service (rules API-19 and API-20)", () => {
  const rig = useRig(createRig);
  const body = '{"toAmount":"25"}';
  type Call = { shop?: number; key?: string; body?: string };
  const sequences: Record<string, Call[]> = {
    "no key": [{}, {}],
    "the same key": [{ key: "a" }, { key: "a" }, { key: "b" }],
    "the same key with other bytes": [{ key: "a" }, { key: "a", body: '{"toAmount": "25"}' }],
    "the same key of another account": [{ key: "a" }, { key: "a", shop: 1 }],
    "a malformed key": [{ key: "é" }, { key: "a".repeat(256) }, { key: "a".repeat(255) }],
    "a rejected body": [{ key: "a", body: "{}" }, { key: "a", body: "x" }, { key: "a" }],
    "a rejected amount": [
      { key: "a", body: '{"toAmount":"0"}' },
      { key: "a", body: "[]" },
    ],
  };

  test.each(Object.entries(sequences))("given %s", async (_name, calls) => {
    const server = await startHostileServer({
      seed,
      faults: parseFaultMix("drop=0,stall=0,repeat=0,rateLimit=0,error=0,html=0,halfBody=0"),
    });
    try {
      const serviceKeys = [sampleAccount(), sampleAccount()].map(
        (account) => rig.createKeyHeaders(account)["x-api-key"],
      );
      const results = await Promise.all(
        [
          { url: rig.publicUrl, apiKeys: serviceKeys },
          { url: server.url, apiKeys: ["plk_1", "plk_2"] },
        ].map((target) => sendCalls(target, calls)),
      );
      expect(results[1]).toEqual(results[0]);
    } finally {
      await server.close();
    }
  });

  /** Returns the error code of each call, or the number of the link that it returned. */
  const sendCalls = async (
    { apiKeys, url }: { url: string; apiKeys: readonly string[] },
    calls: readonly Call[],
  ) => {
    const ids: string[] = [];
    const results: [number, string | number][] = [];
    for (const call of calls) {
      const response = await fetch(`${url}/v1/payment-link`, {
        method: "POST",
        headers: {
          "Content-Type": "application/json",
          "X-API-Key": apiKeys[call.shop ?? 0] ?? "",
          ...(call.key === undefined ? {} : { "Idempotency-Key": call.key }),
        },
        body: call.body ?? body,
      });
      const { errors, id } = (await response.json()) as {
        id?: string;
        errors?: { code: string }[];
      };
      if (id !== undefined && !ids.includes(id)) ids.push(id);
      results.push([response.status, errors?.[0]?.code ?? ids.indexOf(id ?? "")]);
    }
    return results;
  };
});
