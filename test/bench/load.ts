import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "undici";
import { call } from "../rig/client.ts";

/** The number of connections of a client. */
export const connectionCount = 10;

export type Call = {
  method: "GET" | "POST";
  path: string;
  headers?: Record<string, string>;
  body?: string;
};

/** Runs `work` again and again with the given concurrency, until it returns false. */
export const runWorkers = async (
  workerCount: number,
  work: () => false | Promise<unknown>,
): Promise<void> => {
  const runWorker = async (): Promise<void> => {
    for (let step = work(); step !== false; step = work()) await step;
  };
  await Promise.all(Array.from({ length: workerCount }, runWorker));
};

/** Returns how often per second `work` ends in `seconds`, with the given concurrency. */
export const measureWorkRate = async (
  work: () => Promise<unknown>,
  seconds: number,
  workerCount: number,
): Promise<number> => {
  const startedAt = performance.now();
  let count = 0;
  await runWorkers(workerCount, () => {
    if (performance.now() >= startedAt + seconds * 1_000) return false;
    return work().then(() => (count += 1));
  });
  return count / ((performance.now() - startedAt) / 1_000);
};

/** Returns the responses per second over keep-alive connections. */
export const measureRate = async (
  baseUrl: string,
  nextCall: () => Call,
  seconds: number,
): Promise<number> => {
  const pool = new Pool(baseUrl, { connections: connectionCount, pipelining: 1 });
  const send = async (): Promise<void> => {
    const { statusCode, body } = await pool.request(nextCall());
    await body.dump();
    if (statusCode !== 200) throw new Error(`${baseUrl} responded with ${statusCode}`);
  };
  const rate = await measureWorkRate(send, seconds, connectionCount);
  await pool.close();
  return rate;
};

/** Starts calls at a fixed rate, whether or not earlier calls have ended. */
export const callEvenly = async <Result>(
  call: (index: number) => Promise<Result>,
  { count, perSecond }: { count: number; perSecond: number },
): Promise<Result[]> => {
  const startedAt = performance.now();
  const running: Promise<Result>[] = [];
  for (let index = 0; index < count; index += 1) {
    const dueInMs = startedAt + (index * 1000) / perSecond - performance.now();
    if (dueInMs > 0) await sleep(dueInMs);
    const callResult = call(index);
    // The rejection is reported at the end. If it were unhandled until then, the process would exit
    // and leave its servers running.
    callResult.catch(() => {});
    running.push(callResult);
  }
  return Promise.all(running);
};

/**
 * Makes calls at increasing rates, because a process cannot handle a high rate before its code is
 * JIT-compiled.
 */
export const warmUp = async (
  call: (index: number) => Promise<unknown>,
  { perSecond, stepSeconds }: { perSecond: number; stepSeconds: number },
): Promise<void> => {
  for (const rate of [50, 100, 200, 300, 400].filter((step) => step < perSecond)) {
    await callEvenly(call, { count: stepSeconds * rate, perSecond: rate });
  }
  await callEvenly(call, { count: stepSeconds * perSecond, perSecond });
};

/** Creates a payment link. */
export const createLink = async (
  baseUrl: string,
  apiKey: string,
  order: Readonly<Record<string, unknown>>,
): Promise<{ id: string; url: string }> => {
  const { body, status } = await call(`${baseUrl}/v1/payment-link`, {
    method: "POST",
    headers: { "x-api-key": apiKey },
    body: order,
  });
  if (status !== 200) throw new Error(`creating a link got the response ${status}`);
  return { id: String(body["id"]), url: String(body["url"]) };
};
