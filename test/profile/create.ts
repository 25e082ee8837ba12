import { measureRate } from "../bench/load.ts";
import { openMerchant } from "../rig/client.ts";
import { openReceiver } from "../rig/receiver.ts";
import { openRealSystem } from "../rig/real-system.ts";
import { shopEnv } from "../rig/shop-env.ts";
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
  const receiver = await openReceiver();
  const system = await openRealSystem({
    replicasPerService,
    redisDatabase: 0,
    env: {
      ...shopEnv(receiver),
      RATE_LIMIT_PER_IP: "100000:100000",
      RATE_LIMIT_PER_KEY: "100000:100000",
      ...profiledEnv(directory),
    },
  });
  try {
    const { apiKey } = await openMerchant(system, "profile");
    const create = {
      method: "POST",
      path: "/v1/payment-link",
      headers: { "x-api-key": apiKey, "content-type": "application/json" },
      body: JSON.stringify({ toAmount: "25" }),
    } as const;
    const measure = (seconds: number) =>
      measureRate(system.baseUrl, () => create, seconds, callersAtOnce);
    await measure(warmUpSeconds);
    const writeProfiles = profileSystem(system, directory);
    const perSecond = await measure(seconds);
    return { perSecond: Math.round(perSecond), files: await writeProfiles() };
  } finally {
    await system.close();
    await receiver.close();
  }
};
