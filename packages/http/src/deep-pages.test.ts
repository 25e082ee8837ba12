import { describe, expect, test } from "@jest/globals";
import type { Response } from "express";
import { createFakeClock, createMetrics } from "@payment-links/runtime";
import { createDeepPages, deepOffsetMin } from "./deep-pages.ts";

/** Creates the deep pages of one service. The test controls when each read finishes. */
const createDeepPagesRig = () => {
  const clock = createFakeClock(new Date("2026-11-21T10:00:00Z"));
  const metrics = createMetrics("test");
  const deepPages = createDeepPages({ clock, metrics });
  const readingAccounts: string[] = [];
  const finishByAccount = new Map<string, (error?: Error) => void>();
  /**
   * Requests a page for an account. The result is the outcome, with `Retry-After` if the request
   * was rejected.
   */
  const requestPage = async (accountId: string, offset = deepOffsetMin) => {
    const headers: Record<string, string> = {};
    const setHeader = (name: string, value: string) => void (headers[name] = value);
    const readPage = () =>
      new Promise<string>((resolve, reject) => {
        readingAccounts.push(accountId);
        finishByAccount.set(accountId, (error) =>
          error === undefined ? resolve("read") : reject(error),
        );
      });
    const res = { setHeader } as unknown as Response;
    const result = deepPages.read(res, { accountId, offset }, readPage).catch((error: unknown) => {
      const message = error instanceof Error ? error.message : "";
      return [message, ...Object.entries(headers).flat()].join(" ");
    });
    await flushImmediates();
    return { result };
  };
  const finishReading = async (accountId: string, error?: Error): Promise<void> => {
    finishByAccount.get(accountId)?.(error);
    await flushImmediates();
  };
  return { requestPage, clock, finishReading, metrics, readingAccounts };
};

const rejection = "429 Retry-After 1";

/** Runs everything that is only waiting for the next turn of the event loop. */
const flushImmediates = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("deep pages (rule API-26)", () => {
  test("are read one at a time, in request order", async () => {
    const { requestPage, finishReading, readingAccounts } = createDeepPagesRig();
    const requests = [await requestPage("a"), await requestPage("b"), await requestPage("c")];
    expect(readingAccounts).toEqual(["a"]);
    await finishReading("a");
    expect(readingAccounts).toEqual(["a", "b"]);
    await finishReading("b");
    await finishReading("c");
    for (const { result } of requests) expect(await result).toBe("read");
  });

  test("do not delay other pages", async () => {
    const { requestPage, finishReading, readingAccounts } = createDeepPagesRig();
    const requests = [
      await requestPage("a"),
      await requestPage("b", deepOffsetMin - 1),
      await requestPage("a", 0),
    ];
    expect(readingAccounts).toEqual(["a", "b", "a"]);
    expect(requests).toHaveLength(3);
    await finishReading("b");
    expect(await requests[1]?.result).toBe("read");
  });

  test("allow one per account: a second is rejected immediately, and a later one is read", async () => {
    const { requestPage, finishReading, metrics } = createDeepPagesRig();
    const firstRequest = await requestPage("a");
    const waitingRequest = await requestPage("b");
    for (const retriedAccount of ["a", "a", "b", "b"]) {
      expect(await (await requestPage(retriedAccount)).result).toBe(rejection);
    }
    await finishReading("a");
    await finishReading("b");
    expect([await firstRequest.result, await waitingRequest.result]).toEqual(["read", "read"]);
    const retriedAccount = await requestPage("a");
    await finishReading("a");
    expect(await retriedAccount.result).toBe("read");
    const metricsText = await metrics.metrics();
    expect(metricsText).toMatch(/payment_links_deep_pages_total\{.*outcome="read".*\} 3/);
    expect(metricsText).toMatch(/payment_links_deep_pages_total\{.*outcome="refused".*\} 4/);
  });

  test("wait for three seconds at most, and skip a request that has timed out", async () => {
    const { requestPage, clock, finishReading, readingAccounts } = createDeepPagesRig();
    const firstRequest = await requestPage("a");
    const earlyRequest = await requestPage("b");
    clock.advance(1_000);
    const laterRequest = await requestPage("c");
    clock.advance(1_999);
    await flushImmediates();
    clock.advance(1);
    expect(await earlyRequest.result).toBe(rejection);
    await finishReading("a", new Error("gone"));
    expect(await firstRequest.result).toBe("gone");
    expect(readingAccounts).toEqual(["a"]);
    clock.advance(1_000);
    expect(await laterRequest.result).toBe(rejection);
    const lateRequest = await requestPage("d");
    clock.advance(2_000);
    await flushImmediates();
    expect(readingAccounts).toEqual(["a", "d"]);
    await finishReading("d");
    expect(await lateRequest.result).toBe("read");
  });

  test("use at most half of the time: a pause as long as the read follows each read", async () => {
    const { requestPage, clock, finishReading, readingAccounts } = createDeepPagesRig();
    const firstRequest = await requestPage("a");
    const secondRequest = await requestPage("b");
    clock.advance(400);
    await finishReading("a");
    expect(await firstRequest.result).toBe("read");
    clock.advance(399);
    await flushImmediates();
    expect(readingAccounts).toEqual(["a"]);
    clock.advance(1);
    await flushImmediates();
    expect(readingAccounts).toEqual(["a", "b"]);
    await finishReading("b");
    expect(await secondRequest.result).toBe("read");
  });

  test("pass the turn on when a read fails", async () => {
    const { requestPage, finishReading } = createDeepPagesRig();
    const [firstRequest, secondRequest] = [await requestPage("a"), await requestPage("b")];
    await finishReading("a", new Error("no database"));
    expect(await firstRequest.result).toBe("no database");
    await finishReading("b");
    expect(await secondRequest.result).toBe("read");
  });

  test("queue up to a limit", async () => {
    const { requestPage, finishReading } = createDeepPagesRig();
    const requests = [];
    for (let index = 0; index <= 100; index += 1)
      requests.push(await requestPage(`account ${index}`));
    expect(await (await requestPage("one more")).result).toBe(rejection);
    for (let index = 0; index <= 100; index += 1) await finishReading(`account ${index}`);
    for (const { result } of requests) expect(await result).toBe("read");
  });
});
