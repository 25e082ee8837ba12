import * as z from "zod";
import type { Release } from "./release.ts";

const OpenedAccount = z.object({ signInUrl: z.url() });

/** Opens an account as the chart's notes say; answers the token that signs in to it once. */
export const openAccount = async ({ cluster, name }: Release): Promise<string> => {
  const admin = ["node", "/app/deploy/src/admin.ts"];
  const handle = `shop${Date.now().toString(36)}`;
  const account = ["account", "create", "--handle", handle, "--username", "Shop"];
  const where = `deployment/${name}-auth-keys`;
  const printed = await cluster.kubectl(["exec", where, "--", ...admin, ...account]);
  const { signInUrl } = OpenedAccount.parse(JSON.parse(printed));
  return new URL(signInUrl).hash.replace("#token=", "");
};
