import type { Request, Response } from "express";
import { auditEvent, publish } from "@payment-links/bus";
import { EndpointBody, newId, refuse } from "@payment-links/contracts";
import { answerJson, personActor, readBody } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import { mintSecret, secretPrefixOf, showEndpoint } from "../domain/endpoint.ts";
import { sealSecret } from "../domain/secret-keys.ts";
import { admitWebhookUrl } from "../guard/admit-webhook-url.ts";
import { insertEndpoint, lockEndpoints } from "../store/endpoints.ts";

/** POST /console/api/webhook-endpoints: adds an endpoint and shows its secret, this once. */
export const createEndpoint =
  ({ pool, clock, rules, resolve, secretKeys, wakeRelay }: Deps) =>
  async (req: Request, res: Response, { account, credential }: Caller): Promise<void> => {
    const { url: typed, name } = await readBody(req, EndpointBody);
    const url = await admitWebhookUrl(typed, { rules, resolve });
    if (url === undefined) throw refuse("INVALID_WEBHOOK_URL");
    const id = newId("whe");
    const secret = mintSecret();
    const now = clock.now();
    const fresh = {
      id,
      userId: account.id,
      url: url.href,
      name,
      secretPrefix: secretPrefixOf(secret),
      ...sealSecret(secretKeys, secret, id),
      dateCreated: now,
    };
    const endpoint = await transact(pool, async (tx) => {
      await lockEndpoints(tx, account.id);
      const inserted = await insertEndpoint(tx, fresh);
      const deed = {
        ...personActor(req, credential),
        at: now,
        accountId: account.id,
        targetId: id,
      };
      // The path and the query can hold a token of the receiver's.
      const detail = { origin: url.origin, name };
      await publish(tx, [
        auditEvent({ ...deed, action: "webhook_endpoint.added", detail }),
        auditEvent({ ...deed, action: "webhook_endpoint.secret_shown" }),
      ]);
      return inserted;
    });
    wakeRelay();
    answerJson(res, 201, { ...showEndpoint(endpoint), secret });
  };
