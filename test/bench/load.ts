import { Pool } from "undici";
import { connectionCount } from "./bench-setup.ts";

export type Call = {
  method: "GET" | "POST";
  path: string;
  headers?: Record<string, string>;
  body?: string;
};

/**
 * Sends calls over keep-alive connections for the given number of seconds. Returns the number of
 * responses per second.
 */
export const measureRate = async (
  baseUrl: string,
  nextCall: () => Call,
  seconds: number,
  connections = connectionCount,
): Promise<number> => {
  const pool = new Pool(baseUrl, { connections, pipelining: 1 });
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1000;
  let count = 0;
  const runWorker = async () => {
    while (performance.now() < endsAt) {
      const { statusCode, body } = await pool.request(nextCall());
      await body.dump();
      if (statusCode !== 200) throw new Error(`${baseUrl} responded with ${statusCode}`);
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, runWorker));
  const rate = count / ((performance.now() - startedAt) / 1000);
  await pool.close();
  return rate;
};

/** Returns the median duration of sequential calls, in milliseconds. */
export const measureMedianMs = async (
  baseUrl: string,
  call: Call,
  callCount: number,
): Promise<number> => {
  const pool = new Pool(baseUrl, { connections: 1 });
  const durations: number[] = [];
  for (let index = 0; index < callCount; index += 1) {
    const startedAt = performance.now();
    const { statusCode, body } = await pool.request(call);
    await body.dump();
    durations.push(performance.now() - startedAt);
    if (statusCode !== 200) throw new Error(`${baseUrl}${call.path} responded with ${statusCode}`);
  }
  await pool.close();
  return median(durations);
};

export const median = (numbers: readonly number[]): number => {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
};
