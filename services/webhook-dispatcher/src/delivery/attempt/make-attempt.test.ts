import { describe, expect, test } from "@jest/globals";
import { createFakeClock, createLog } from "@payment-links/runtime";
import { ampleTimeoutMs } from "@payment-links/runtime/testing/time-limits";
import { startReceiver } from "../../testing/start-receiver.ts";
import { sampleAttempt } from "../../testing/samples.ts";
import { createDeadlines } from "./deadlines.ts";
import { makeAttempt } from "./make-attempt.ts";
import { createTransport } from "./transport.ts";

const timeoutMs = 10_000;
const clock = createFakeClock(new Date("2026-11-21T10:00:00.000Z"));

const attemptWithLease = async (leaseMs: number) => {
  const receiver = await startReceiver();
  const transport = createTransport({
    resolve: () => Promise.reject(new Error("unexpected DNS lookup")),
    clock,
    overrides: new Map([["receiver.test", new URL(receiver.origin)]]),
    connectionsMax: 1,
    connectTimeoutMs: ampleTimeoutMs,
  });
  const log = createLog({ service: "test", level: "silent" });
  const { outcome, sentBody } = await makeAttempt(
    {
      transport,
      log,
      deadlines: createDeadlines(clock, timeoutMs),
      headerPrefix: "Acme",
    },
    sampleAttempt(
      new URL("https://receiver.test/a/hook?b=c%20d"),
      clock.now(),
      new Date(clock.now().getTime() + leaseMs),
    ),
  );
  await transport.close();
  await receiver.close();
  return { outcome, sentBody, received: receiver.received };
};

describe("makeAttempt", () => {
  test("does not start an attempt that could outlive its lease", async () => {
    const { outcome, received, sentBody } = await attemptWithLease(timeoutMs);
    expect(outcome).toEqual({ kind: "interrupted", httpStatus: null, error: "interrupted" });
    expect(sentBody).toBeNull();
    expect(received).toEqual([]);
  });

  test("posts to the full URL with the configured header prefix when the lease outlives the deadline (rule HOOK-11)", async () => {
    const { outcome, received } = await attemptWithLease(timeoutMs + 1);
    expect(outcome.kind).toBe("delivered");
    expect(received[0]).toMatchObject({ method: "POST", path: "/a/hook?b=c%20d" });
    expect(received[0]?.headers).toMatchObject({
      host: "receiver.test",
      "content-type": "application/json",
      "accept-encoding": "identity",
      "user-agent": "PaymentLinks-Webhooks/1.0",
      "acme-event-id": "evt_1",
      "acme-signature": expect.stringMatching(/^v1=[0-9a-f]{64}$/),
      "acme-timestamp": "1795255200",
    });
    expect(received[0]?.headers["service-signature"]).toBeUndefined();
  });
});
