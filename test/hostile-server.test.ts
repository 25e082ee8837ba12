import { describe, expect, test } from "@jest/globals";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createRig } from "../services/links-api/src/testing/create-rig.ts";
import { sampleAccount } from "../services/links-api/src/testing/samples.ts";
import { parseFaultMix } from "./hostile-server/faults.ts";
import { startHostileServer } from "./hostile-server/start-hostile-server.ts";
import { testCalls } from "./hostile-server/test-calls.ts";

describe("2,000 calls of the SDK to a server that fails in every way (rules API-19 and ERROR-4)", () => {
  testCalls(2_000);
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
      seed: 0,
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
