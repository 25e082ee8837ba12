import type { Mode } from "@payment-links/contracts";
import { type Merchant, call } from "./client.ts";
import type { System } from "./system.ts";

/** Registers a webhook endpoint as its owner does in the console. Returns its ID and secret. */
export const registerEndpoint = async (
  { baseUrl }: Pick<System, "baseUrl">,
  { cookie }: Pick<Merchant, "cookie">,
  url: string,
  mode: Mode = "live",
): Promise<{ id: string; secret: string }> => {
  const response = await call(`${baseUrl}/console/api/webhook-endpoints`, {
    method: "POST",
    headers: { cookie },
    body: { url, name: url, mode },
  });
  if (response.status !== 201)
    throw new Error(`the endpoint was not created: ${JSON.stringify(response.body)}`);
  return { id: String(response.body["id"]), secret: String(response.body["secret"]) };
};
