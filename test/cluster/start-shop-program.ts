import * as z from "zod";
import type { Release } from "./release.ts";

type ShopProgram = {
  /** The pod's name. */
  name: string;
  /** The program's file in `in-cluster/`. The program must call `createShop`. */
  file: string;
  env?: Readonly<Record<string, string>>;
};

/**
 * Starts a program in a pod. The program acts as the shop of a new account, as the payment provider
 * and as the webhook receiver.
 */
export const startShopProgram = async (
  release: Release,
  { name, file, env = {} }: ShopProgram,
): Promise<void> => {
  const { cluster, provider, receiverPort } = release;
  await cluster.startProgram({
    name,
    file,
    image: release.image("links-api"),
    isReceiver: true,
    env: {
      SERVICES: release.name,
      SIGN_IN_TOKEN: await createAccount(release),
      PROVIDER_NAME: provider.name,
      PROVIDER_SECRET: provider.secret,
      RECEIVER_PORT: String(receiverPort),
      ...env,
    },
  });
};

const CreatedAccount = z.object({ signInUrl: z.url() });

/** Creates an account as the chart's notes describe. Returns the token of a one-time sign-in link. */
const createAccount = async ({ cluster, name }: Release): Promise<string> => {
  const adminCommand = ["node", "/app/deploy/src/admin.ts"];
  const handle = `shop${Date.now().toString(36)}`;
  const accountCommand = ["account", "create", "--handle", handle, "--username", "Shop"];
  const deployment = `deployment/${name}-auth-keys`;
  const output = await cluster.kubectl([
    "exec",
    deployment,
    "--",
    ...adminCommand,
    ...accountCommand,
  ]);
  const { signInUrl } = CreatedAccount.parse(JSON.parse(output));
  return new URL(signInUrl).hash.replace("#token=", "");
};
