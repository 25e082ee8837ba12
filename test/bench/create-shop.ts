import { createMerchant } from "../rig/client.ts";
import { startReceiver } from "../rig/receiver.ts";
import { startRealSystem } from "../rig/real-system.ts";
import { registerEndpoint } from "../rig/register-endpoint.ts";
import { buildShopEnv, unlimitedEnv } from "../rig/shop-env.ts";

export type Shop = Awaited<ReturnType<typeof createShop>>;

/**
 * Starts the given number of replicas of each service, and creates a merchant with one endpoint.
 * The rate limits are too high for a bench to reach.
 */
export const createShop = async ({
  env,
  ...systemOptions
}: {
  replicasPerService: number;
  env?: Record<string, string>;
}) => {
  const receiver = await startReceiver();
  const system = await startRealSystem({
    ...systemOptions,
    env: {
      ...buildShopEnv(receiver),
      ...unlimitedEnv,
      ...env,
    },
  });
  const merchant = await createMerchant(system, "bench");
  const endpoint = await registerEndpoint(system, merchant, "https://receiver.test/hook");
  return {
    system,
    receiver,
    merchant,
    endpointId: endpoint.id,
    close: async (): Promise<void> => {
      await system.close();
      await receiver.close();
    },
  };
};
