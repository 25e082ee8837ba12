import { openMerchant } from "../rig/client.ts";
import { openReceiver } from "../rig/receiver.ts";
import { openRealSystem } from "../rig/real-system.ts";
import { registerEndpoint } from "../rig/register-endpoint.ts";
import { shopEnv, unlimitedEnv } from "../rig/shop-env.ts";

export type Shop = Awaited<ReturnType<typeof openShop>>;

/** So many of each service, without limits that a bench meets, and a merchant with one endpoint. */
export const openShop = async ({
  env,
  ...place
}: {
  replicasPerService: number;
  env?: Record<string, string>;
}) => {
  const receiver = await openReceiver();
  const system = await openRealSystem({
    ...place,
    env: {
      ...shopEnv(receiver),
      ...unlimitedEnv,
      ...env,
    },
  });
  const merchant = await openMerchant(system, "bench");
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
