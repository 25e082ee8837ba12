import type { Request, Response } from "express";
import { type Reader, body, newId, refuse, required, text } from "@payment-links/contracts";
import { answerJson, readBody } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import { mintSecret, nameLengthMax, secretPrefixOf, showEndpoint } from "../domain/endpoint.ts";
import { sealSecret } from "../domain/secret-keys.ts";
import { admitWebhookUrl } from "../guard/admit-webhook-url.ts";
import { insertEndpoint, lockEndpoints } from "../store/endpoints.ts";

/** Any string: what is wrong with a URL is told by one code, its length too (rule HOOK-2). */
const anyString: Reader<string> = {
  schema: { type: "string", format: "uri" },
  read: (input) => (typeof input === "string" ? { value: input } : "string_type"),
};

const Body = body({
  url: required(anyString),
  name: required(text({ lengthMin: 1, lengthMax: nameLengthMax })),
});

/** POST /console/api/webhook-endpoints: adds an endpoint and shows its secret, this once. */
export const createEndpoint =
  ({ pool, clock, rules, resolve, secretKeys }: Deps) =>
  async (req: Request, res: Response, { account }: Caller): Promise<void> => {
    const { url: typed, name } = await readBody(req, Body);
    const url = await admitWebhookUrl(typed, { rules, resolve });
    if (url === undefined) throw refuse("INVALID_WEBHOOK_URL");
    const id = newId("whe");
    const secret = mintSecret();
    const fresh = {
      id,
      userId: account.id,
      url: url.href,
      name,
      secretPrefix: secretPrefixOf(secret),
      ...sealSecret(secretKeys, secret, id),
      dateCreated: clock.now(),
    };
    const endpoint = await transact(pool, async (tx) => {
      await lockEndpoints(tx, account.id);
      return insertEndpoint(tx, fresh);
    });
    answerJson(res, 201, { ...showEndpoint(endpoint), secret });
  };
