import type { Request, Response } from "express";
import { EndpointBody, newId, refuse } from "@payment-links/contracts";
import { answerJson, readBody } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import { mintSecret, secretPrefixOf, showEndpoint } from "../domain/endpoint.ts";
import { sealSecret } from "../domain/secret-keys.ts";
import { admitWebhookUrl } from "../guard/admit-webhook-url.ts";
import { insertEndpoint, lockEndpoints } from "../store/endpoints.ts";

/** POST /console/api/webhook-endpoints: adds an endpoint and shows its secret, this once. */
export const createEndpoint =
  ({ pool, clock, rules, resolve, secretKeys }: Deps) =>
  async (req: Request, res: Response, { account }: Caller): Promise<void> => {
    const { url: typed, name } = await readBody(req, EndpointBody);
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
