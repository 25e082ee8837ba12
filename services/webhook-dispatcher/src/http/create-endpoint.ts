import type { Request, Response } from "express";
import { createAuditEvent, publish } from "@payment-links/bus";
import { CreateEndpointBody, createWebhookUrlError, newId } from "@payment-links/contracts";
import { sendJson, createSessionActor, readJsonBody } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import { transact } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import { generateSecret, secretPrefixOf, serializeEndpoint } from "../domain/endpoint.ts";
import { sealSecret } from "../domain/secret-keys.ts";
import { validateWebhookUrl } from "../guard/validate-webhook-url.ts";
import { insertEndpoint, lockEndpoints } from "../store/endpoints.ts";

/**
 * POST /console/api/webhook-endpoints: creates an endpoint and returns its secret, which is shown
 * only once.
 */
export const createEndpoint =
  ({ pool, clock, rules, resolve, secretKeys, wakeRelay }: Dependencies) =>
  async (req: Request, res: Response, { account, credential }: Caller): Promise<void> => {
    const { mode, name, url: urlText } = await readJsonBody(req, CreateEndpointBody);
    const url = await validateWebhookUrl(urlText, { rules, resolve });
    if (typeof url === "string") throw createWebhookUrlError(url);
    const id = newId("whe");
    const secret = generateSecret();
    const now = clock.now();
    const newEndpoint = {
      id,
      userId: account.id,
      url: url.href,
      name,
      mode: mode ?? ("live" as const),
      secretPrefix: secretPrefixOf(secret),
      ...sealSecret(secretKeys, secret, id),
      dateCreated: now,
    };
    const endpoint = await transact(pool, async (tx) => {
      await lockEndpoints(tx, account.id);
      const insertedEndpoint = await insertEndpoint(tx, newEndpoint);
      const auditFields = {
        ...createSessionActor(req, credential),
        at: now,
        accountId: account.id,
        targetId: id,
      };
      // The path and the query can contain a secret token of the receiver, so the audit log
      // contains only the origin.
      const detail = { origin: url.origin, name, mode: newEndpoint.mode };
      await publish(tx, [
        createAuditEvent({ ...auditFields, action: "webhook_endpoint.added", detail }),
        createAuditEvent({ ...auditFields, action: "webhook_endpoint.secret_shown" }),
      ]);
      return insertedEndpoint;
    });
    wakeRelay();
    sendJson(res, 201, { ...serializeEndpoint(endpoint), secret });
  };
