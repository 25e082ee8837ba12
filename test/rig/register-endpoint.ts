import { type Merchant, call } from "./client.ts";
import type { System } from "./system.ts";

/** Registers a webhook endpoint as its owner does in the console; answers its id and secret. */
export const registerEndpoint = async (
  { baseUrl }: Pick<System, "baseUrl">,
  { cookie }: Merchant,
  url: string,
): Promise<{ id: string; secret: string }> => {
  const answer = await call(`${baseUrl}/console/api/webhook-endpoints`, {
    method: "POST",
    headers: { cookie },
    body: { url, name: url },
  });
  if (answer.status !== 201) throw new Error(`no endpoint: ${JSON.stringify(answer.body)}`);
  return { id: String(answer.body["id"]), secret: String(answer.body["secret"]) };
};
