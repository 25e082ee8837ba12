import { createHmac } from "node:crypto";
import { hold } from "../finding.ts";
import type { Endpoint, WebhookBody } from "../model.ts";
import type { Strangers } from "../seams.ts";
import { cookieOf } from "./accounts.ts";
import { ask } from "./errands.ts";
import type { Shop } from "./shop.ts";

const refusalsMax = 2;

export const hostsOfReceivers = ["a1", "a2", "b1"].map((name) => `${name}.shop.example`);

export const registerAll = (shop: Shop): void =>
  hostsOfReceivers.forEach((host, index) => register(shop, host, index));

const register = (shop: Shop, host: string, index: number): void => {
  const account = host.startsWith("a") ? 0 : 1;
  ask(shop, {
    what: `register ${host}`,
    service: "webhook-dispatcher",
    send: () => ({
      method: "POST",
      path: "/console/api/webhook-endpoints",
      headers: cookieOf(shop, account),
      body: JSON.stringify({ url: `https://${host}/hook`, name: host }),
    }),
    answered: ({ status, text }) => {
      hold(status === 201, () => `an endpoint is refused: ${status} ${text}`);
      const { secret } = JSON.parse(text);
      shop.model.endpoints.push({ number: index, account, host, secret });
      return true;
    },
  });
};

/** A webhook comes; before all is calm its receiver may refuse it a few times, or say nothing. */
export const receive = (
  { isCalm, model, refusals, world }: Shop,
  { body, headers, origin }: Parameters<Strangers["receive"]>[0],
): ReturnType<Strangers["receive"]> => {
  const { random } = world;
  const endpoint = model.endpoints.find(({ host }) => host === origin);
  hold(endpoint !== undefined, () => `a webhook goes to ${origin}`);
  holdSignature(endpoint, headers, body);
  const id = headers["Service-Event-Id"] ?? "";
  const webhook = model.receive(endpoint, id, JSON.parse(body) as WebhookBody);
  const told = `${webhook.type} ${webhook.payment?.number ?? ""}`;
  world.count("webhooks received");
  const refused = refusals.get(id) ?? 0;
  if (!isCalm && refused < refusalsMax && random.chance(0.25)) {
    refusals.set(id, refused + 1);
    const status = random.pick([500, undefined, "never"] as const);
    world.count(`webhooks refused: ${String(status)}`);
    return { word: `${told} ${String(status)}`, status };
  }
  webhook.isDelivered = true;
  return { word: `${told} 204`, status: 204 };
};

const holdSignature = (
  { secret }: Endpoint,
  headers: Readonly<Record<string, string>>,
  body: string,
): void => {
  const timestamp = headers["Service-Timestamp"] ?? "";
  const digest = createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex");
  hold(headers["Service-Signature"] === `v1=${digest}`, () => "a webhook's signature is wrong");
};
