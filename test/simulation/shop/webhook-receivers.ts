import { computeSignature } from "../../rig/receiver.ts";
import { assertInvariant } from "../finding.ts";
import type { WebhookBody } from "../model.ts";
import type { Adversaries } from "../seams.ts";
import { getCookieHeader } from "./accounts.ts";
import { enqueueRequest } from "./pending-requests.ts";
import type { Shop } from "./shop.ts";

const rejectionsMax = 2;

export const receiverHosts = ["a1", "a2", "b1"].map((name) => `${name}.shop.example`);

export const registerReceivers = (shop: Shop): void =>
  receiverHosts.forEach((host, index) => registerReceiver(shop, host, index));

const registerReceiver = (shop: Shop, host: string, index: number): void => {
  const account = host.startsWith("a") ? 0 : 1;
  enqueueRequest(shop, {
    description: `register ${host}`,
    service: "webhook-dispatcher",
    createRequest: () => ({
      method: "POST",
      path: "/console/api/webhook-endpoints",
      headers: getCookieHeader(shop, account),
      body: JSON.stringify({ url: `https://${host}/hook`, name: host }),
    }),
    handleResponse: ({ status, text }) => {
      assertInvariant(status === 201, () => `an endpoint was rejected: ${status} ${text}`);
      const { secret } = JSON.parse(text);
      shop.model.endpoints.push({ number: index, account, host, secret });
      return true;
    },
  });
};

/** Handles a webhook. An unreliable receiver can reject it a few times or not respond. */
export const receiveWebhook = (
  { areReceiversReliable, model, rejectionCounts, world }: Shop,
  { body, headers, origin }: Parameters<Adversaries["receiveWebhook"]>[0],
): ReturnType<Adversaries["receiveWebhook"]> => {
  const { random } = world;
  const endpoint = model.endpoints.find(({ host }) => host === origin);
  assertInvariant(endpoint !== undefined, () => `a webhook was sent to the unknown host ${origin}`);
  const timestamp = headers["Service-Timestamp"] ?? "";
  assertInvariant(
    headers["Service-Signature"] === computeSignature(endpoint.secret, timestamp, body),
    () => "a webhook's signature is wrong",
  );
  const id = headers["Service-Event-Id"] ?? "";
  const webhook = model.receiveWebhook(endpoint, id, JSON.parse(body) as WebhookBody);
  const webhookLabel = `${webhook.type} ${webhook.payment?.number ?? ""}`;
  world.count("webhooks received");
  const rejectionCount = rejectionCounts.get(id) ?? 0;
  if (!areReceiversReliable && rejectionCount < rejectionsMax && random.chance(0.25)) {
    rejectionCounts.set(id, rejectionCount + 1);
    const status = random.pick([500, undefined, "never"] as const);
    world.count(`webhooks rejected: ${String(status)}`);
    return { traceText: `${webhookLabel} ${String(status)}`, status };
  }
  webhook.isDelivered = true;
  return { traceText: `${webhookLabel} 204`, status: 204 };
};
