import { measureRate } from "../bench/load.ts";
import { openShop } from "../bench/open-shop.ts";
import { profileSystem, profiledEnv } from "./system-profiles.ts";

const callersAtOnce = 64;
const warmUpSeconds = 10;

/** What each process computes while links are created as fast as they can be, and heard of by all. */
export const profileCreate = async (options: {
  replicasPerService: number;
  seconds: number;
  directory: string;
}): Promise<{ perSecond: number; files: string[] }> => {
  const { directory, replicasPerService, seconds } = options;
  const env = profiledEnv(directory);
  const { close, merchant, system } = await openShop({ replicasPerService, env });
  try {
    const create = {
      method: "POST",
      path: "/v1/payment-link",
      headers: { "x-api-key": merchant.apiKey, "content-type": "application/json" },
      body: JSON.stringify({ toAmount: "25" }),
    } as const;
    const measure = (seconds: number) =>
      measureRate(system.baseUrl, () => create, seconds, callersAtOnce);
    await measure(warmUpSeconds);
    const writeProfiles = profileSystem(system, directory);
    const perSecond = await measure(seconds);
    return { perSecond: Math.round(perSecond), files: await writeProfiles() };
  } finally {
    await close();
  }
};
