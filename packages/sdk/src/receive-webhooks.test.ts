import { createHmac } from "node:crypto";
import { once } from "node:events";
import { type Server, createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterEach, describe, expect, test } from "@jest/globals";
import express from "express";
import { fastify } from "fastify";
import { Hono } from "hono";
import type { ReceiverSettings, WebhookHandler } from "./create-receiver.ts";
import { receiveWebhooks as receiveWithExpress } from "./express.ts";
import { receiveWebhooks as receiveWithFastify } from "./fastify.ts";
import { receiveWebhooks as receiveWithFetch } from "./web.ts";

const secret = `whsec_${"0123456789abcdef".repeat(4)}`;
const bodyBytesMax = 1_000;
const webhook = {
  id: "evt_1",
  type: "payment_link.completed",
  createdAt: "x",
  data: { description: "é 💶" },
};
/** Spaces and order matter, because the signature covers the bytes. */
const webhookText = JSON.stringify(webhook, undefined, 3);

const sign = (body: string, signingSecret = secret) => {
  const seconds = String(Math.floor(Date.now() / 1_000));
  const digest = createHmac("sha256", signingSecret).update(`${seconds}.${body}`).digest("hex");
  return {
    "Content-Type": "application/json",
    "Service-Timestamp": seconds,
    "Service-Signature": `v1=${digest}`,
  };
};

let closeServer: () => Promise<unknown> = async () => {};
afterEach(() => closeServer());

const listen = async (server: Server): Promise<string> => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closeServer = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  };
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
};

type Receiver = (request: Request) => Promise<Response>;
type StartReceiver = (settings: ReceiverSettings, handler: WebhookHandler) => Promise<Receiver>;

const sendTo =
  (url: string): Receiver =>
  (request) =>
    fetch(url, new Request(url, request));

const receivers: Record<string, StartReceiver> = {
  Express: async (settings, handler) => {
    const app = express();
    app.post("/hook", receiveWithExpress(settings, handler));
    return sendTo(await listen(createServer(app)));
  },
  "Express with express.raw()": async (settings, handler) => {
    const app = express();
    const raw = express.raw({ type: "application/json" });
    app.post("/hook", raw, receiveWithExpress(settings, handler));
    return sendTo(await listen(createServer(app)));
  },
  "node:http": async (settings, handler) =>
    sendTo(await listen(createServer(receiveWithExpress(settings, handler)))),
  Fastify: async (settings, handler) => {
    const app = fastify();
    await app.register(receiveWithFastify({ ...settings, path: "/hook" }, handler));
    await app.listen({ port: 0, host: "127.0.0.1" });
    closeServer = () => app.close();
    return sendTo(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}/hook`);
  },
  Hono: async (settings, handler) => {
    const receive = receiveWithFetch(settings, handler);
    const app = new Hono();
    app.post("/hook", (context) => receive(context.req.raw));
    return async (request) => app.request(request);
  },
  "a handler of Request and Response": async (settings, handler) =>
    receiveWithFetch(settings, handler),
};

/** Starts a receiver that records what it is called with. */
const startReceiver = async (name: string, { error }: { error?: Error } = {}) => {
  const webhooks: unknown[] = [];
  const errors: unknown[] = [];
  const settings = { secret, bodyBytesMax, onError: (reason: unknown) => void errors.push(reason) };
  const receive = await receivers[name]?.(settings, async (received) => {
    webhooks.push(received);
    if (error !== undefined) throw error;
  });
  const send = async (body: string | ReadableStream, headers: Record<string, string>) => {
    const options = { method: "POST", headers, body, duplex: "half" } as const;
    const response = await receive?.(new Request("http://shop.test/hook", options));
    return response?.status;
  };
  return { send, webhooks, errors };
};

describe.each(Object.keys(receivers))("a receiver with %s", (name) => {
  test("responds with 204 after the handler got the verified webhook", async () => {
    const { errors, send, webhooks } = await startReceiver(name);
    expect(await send(webhookText, sign(webhookText))).toBe(204);
    expect([webhooks, errors]).toEqual([[webhook], []]);
  });

  test("responds with 401 if a byte or the secret is wrong, or the headers are missing, and does not call the handler", async () => {
    const { errors, send, webhooks } = await startReceiver(name);
    const contentType = { "Content-Type": "application/json" };
    expect(await send(webhookText.replace("evt_1", "evt_2"), sign(webhookText))).toBe(401);
    expect(await send(webhookText, sign(webhookText, `whsec_${"f".repeat(64)}`))).toBe(401);
    expect(await send(webhookText, contentType)).toBe(401);
    expect([webhooks, errors]).toEqual([[], []]);
  });

  test("responds with 500 and reports the error if the handler fails", async () => {
    const error = new Error("the database is away");
    const { errors, send } = await startReceiver(name, { error });
    expect(await send(webhookText, sign(webhookText))).toBe(500);
    expect(errors).toEqual([error]);
  });

  test("responds with 413 if the body is too large, with and without a content length", async () => {
    const { send, webhooks } = await startReceiver(name);
    const largest = JSON.stringify({ ...webhook, data: "" }).padEnd(bodyBytesMax);
    expect(await send(largest, sign(largest))).toBe(204);
    const tooLarge = `${largest} `;
    // express.raw() has its own limit, so the body is complete when the handler gets it.
    expect(await send(tooLarge, sign(tooLarge))).toBe(413);
    const chunks = ReadableStream.from([Buffer.from(largest), Buffer.from(" ")]);
    expect(await send(chunks, sign(tooLarge))).toBe(413);
    expect(webhooks).toHaveLength(1);
  });
});

test("a client that disconnects in the middle of a body reaches neither handler nor error callback", async () => {
  const calls: unknown[] = [];
  const settings = { secret, onError: (error: unknown) => void calls.push(error) };
  const receive = receiveWithExpress(settings, (received) => void calls.push(received));
  const finished = Promise.withResolvers<void>();
  const url = await listen(
    createServer(async (req, res) => {
      await receive(req, res);
      finished.resolve();
    }),
  );
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  socket.end("POST /hook HTTP/1.1\r\nHost: shop.test\r\nContent-Length: 100\r\n\r\n{}");
  socket.resume();
  await finished.promise;
  expect(calls).toEqual([]);
});

test("an Express route behind express.json() reports what is wrong", async () => {
  const errors: unknown[] = [];
  const app = express();
  app.use(express.json());
  const settings = { secret, onError: (error: unknown) => void errors.push(error) };
  app.post(
    "/hook",
    receiveWithExpress(settings, () => {}),
  );
  const url = await listen(createServer(app));
  const headers = sign(webhookText);
  const response = await fetch(url, { method: "POST", headers, body: webhookText });
  expect(response.status).toBe(500);
  expect(errors).toEqual([expect.objectContaining({ message: expect.stringContaining("parsed") })]);
});

test("the Fastify plugin does not change the parsers of other routes", async () => {
  const app = fastify();
  await app.register(receiveWithFastify({ secret, path: "/hook" }, () => {}));
  app.post("/order", async ({ body }) => body);
  const response = await app.inject({ method: "POST", url: "/order", payload: { id: 7 } });
  expect(response.json()).toEqual({ id: 7 });
  await app.close();
});

test.each([
  ["an unset secret", { secret: undefined as unknown as string }],
  ["a secret without its prefix", { secret: "0123456789abcdef" }],
  ["a size that is not an integer", { secret, bodyBytesMax: 0.5 }],
])("rejects %s when the route is created", (_why, settings) => {
  expect(() => receiveWithExpress(settings, () => {})).toThrow(TypeError);
  expect(() => receiveWithFastify({ ...settings, path: "/hook" }, () => {})).toThrow(TypeError);
  expect(() => receiveWithFetch(settings, () => {})).toThrow(TypeError);
});
