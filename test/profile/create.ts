import { measureRate } from "../bench/load.ts";
import { createShop } from "../bench/create-shop.ts";
import { startProfiling, createProfilingEnv } from "./system-profiles.ts";

const callersAtOnce = 64;
const warmUpSeconds = 10;

/**
 * Profiles each process while links are created at the maximum rate and all services receive them.
 */
export const profileCreate = async (options: {
  replicasPerService: number;
  seconds: number;
  directory: string;
}): Promise<{ perSecond: number; files: string[] }> => {
  const { directory, replicasPerService, seconds } = options;
  const env = createProfilingEnv(directory);
  const { close, merchant, system } = await createShop({ replicasPerService, env });
  try {
    const create = {
      method: "POST",
      path: "/v1/payment-link",
      headers: { "x-api-key": merchant.apiKey, "content-type": "application/json" },
      body: JSON.stringify({ toAmount: "25" }),
    } as const;
    const measure = (durationSeconds: number) =>
      measureRate(system.baseUrl, () => create, durationSeconds, callersAtOnce);
    await measure(warmUpSeconds);
    const writeProfiles = startProfiling(system, directory);
    const perSecond = await measure(seconds);
    return { perSecond: Math.round(perSecond), files: await writeProfiles() };
  } finally {
    await close();
  }
};
