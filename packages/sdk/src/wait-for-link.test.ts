import { describe, expect, test } from "@jest/globals";
import { createClient } from "./create-client.ts";
import { PaymentLinksError, WaitTimeoutError } from "./errors.ts";

type Reply = { status?: number; body?: unknown; retryAfter?: string } | "no response";

const link = (status: string, receivedAmount = "0") => ({
  body: { id: "plink_1", status, receivedAmount },
});
const failure = (status: number, code: string, retryAfter?: string): Reply => ({
  status,
  body: { errors: [{ code, message: "For people." }] },
  ...(retryAfter === undefined ? {} : { retryAfter }),
});

/**
 * Creates a client with virtual time. The network gives one reply per attempt, in order, and
 * repeats the last one.
 */
const createTestClient = (...replies: Reply[]) => {
  let nowMs = 0;
  const waits: number[] = [];
  let attemptCount = 0;
  const client = createClient(
    {
      url: "https://pay.example.com",
      fetch: async () => {
        const reply = replies[Math.min(attemptCount, replies.length - 1)];
        attemptCount += 1;
        if (reply === undefined || reply === "no response") throw new TypeError("fetch failed");
        const { body, retryAfter, status = 200 } = reply;
        const headers = retryAfter === undefined ? {} : { "Retry-After": retryAfter };
        return new Response(JSON.stringify(body), { status, headers });
      },
    },
    {
      wait: async (ms, signal) => {
        signal?.throwIfAborted();
        waits.push(ms);
        nowMs += ms;
      },
      random: () => 0,
      newIdempotencyKey: () => "key",
      now: () => nowMs,
    },
  );
  return { client, waits, countAttempts: () => attemptCount };
};

const catchError = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe("waitForPaymentLink", () => {
  test.each(["completed", "inactive"])("returns the link when it is %s", async (status) => {
    const { client, waits } = createTestClient(link("active"), link("active"), link(status));
    expect(await client.waitForPaymentLink("plink_1")).toMatchObject({ status });
    expect(waits).toEqual([1_000, 1_500]);
  });

  test("returns the link when `until` accepts it", async () => {
    const { client } = createTestClient(link("active"), link("active", "5"), link("completed"));
    const until = ({ receivedAmount }: { receivedAmount: string }) => receivedAmount !== "0";
    expect(await client.waitForPaymentLink("plink_1", { until })).toMatchObject({
      status: "active",
      receivedAmount: "5",
    });
  });

  test("polls less and less often, up to every 15 seconds, until the time is over", async () => {
    const { client, waits } = createTestClient(link("active"));
    const error = await catchError(client.waitForPaymentLink("plink_1", { timeoutMs: 100_000 }));
    expect(error).toBeInstanceOf(WaitTimeoutError);
    expect(error).toMatchObject({ link: { id: "plink_1", status: "active" } });
    expect(waits.slice(0, 3)).toEqual([1_000, 1_500, 2_250]);
    expect(Math.max(...waits)).toBe(15_000);
    expect(waits.reduce((sum, ms) => sum + ms, 0)).toBe(100_000);
  });

  test("continues after temporary errors and never polls before `Retry-After`", async () => {
    const { client, waits } = createTestClient(
      "no response",
      failure(503, "SERVICE_UNAVAILABLE"),
      failure(429, "429", "90"),
      link("completed"),
    );
    expect(await client.waitForPaymentLink("plink_1")).toMatchObject({ status: "completed" });
    expect(waits).toEqual([1_000, 1_500, 90_000]);
  });

  test("ends immediately if `Retry-After` is later than the end of the wait", async () => {
    const { client, waits } = createTestClient(link("active"), failure(429, "429", "90"));
    const error = await catchError(client.waitForPaymentLink("plink_1", { timeoutMs: 60_000 }));
    expect(error).toBeInstanceOf(WaitTimeoutError);
    expect(error).toMatchObject({ link: { status: "active" }, cause: { status: 429 } });
    expect(waits).toEqual([1_000]);
  });

  test("throws any other error", async () => {
    const { client, countAttempts } = createTestClient(failure(404, "CANNOT_FIND_PAYMENT_LINK"));
    const error = await catchError(client.waitForPaymentLink("plink_1"));
    expect(error).toBeInstanceOf(PaymentLinksError);
    expect(error).toMatchObject({ code: "CANNOT_FIND_PAYMENT_LINK", retryAfterMs: 0 });
    expect(countAttempts()).toBe(1);
  });

  test("ends with the signal's reason", async () => {
    const controller = new AbortController();
    const { client } = createTestClient(link("active"));
    const reason = new Error("the visitor left");
    const until = () => {
      controller.abort(reason);
      return false;
    };
    const { signal } = controller;
    expect(await catchError(client.waitForPaymentLink("plink_1", { until, signal }))).toBe(reason);
  });

  test.each([0, -1, 1.5, Number.NaN, Infinity])("rejects %p as `timeoutMs`", async (timeoutMs) => {
    const { client, countAttempts } = createTestClient(link("completed"));
    await expect(client.waitForPaymentLink("plink_1", { timeoutMs })).rejects.toThrow(TypeError);
    expect(countAttempts()).toBe(0);
  });
});
