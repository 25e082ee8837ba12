import { request } from "node:http";
import { expect, test } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import type { Request, Response } from "express";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createLargeBodies } from "./large-bodies.ts";
import { bodyBytesMax, readBodyBytes } from "./parse-request.ts";
import { sessionRoute } from "./route.ts";
import { getErrorCodes, sendRequest } from "./testing/client.ts";
import { startApp } from "./testing/start-app.ts";

const largeBodies = createLargeBodies({ bytesMax: 2 * bodyBytesMax, accountsMax: 1 });

const app = useRig(() =>
  startApp({
    credentials: { "a session": {} },
    routes: [
      sessionRoute({
        method: "post",
        path: "/files",
        largeBodies,
        handle: async (req, res) => {
          res.json({ length: (await readBodyBytes(req, largeBodies.bytesMax)).length });
        },
      }),
      sessionRoute({
        method: "post",
        path: "/others",
        handle: async (req, res) => void res.json({ length: (await readBodyBytes(req)).length }),
      }),
    ],
  }),
);

const headers = { cookie: "session=a session" };

/** Sends a request with a complete or an incomplete body. Returns a function that disconnects. */
const openRequest = async (port: number, path: string, { isComplete }: { isComplete: boolean }) => {
  const openedRequest = request({
    port,
    path,
    method: "POST",
    headers: { ...headers, "content-length": isComplete ? 1 : 1000 },
  });
  openedRequest.on("error", () => {});
  openedRequest.write("x");
  return async (): Promise<void> => {
    const closed = new Promise((resolve) => openedRequest.once("close", resolve));
    openedRequest.destroy();
    await closed;
  };
};

const createPath = (handle: (req: Request, res: Response) => Promise<void>) => {
  const bodies = createLargeBodies({ bytesMax: bodyBytesMax, accountsMax: 1 });
  return sessionRoute({ method: "post", path: "/files", largeBodies: bodies, handle });
};

test("a body stays reserved until its handler has ended, although the client has left", async () => {
  const handler = Promise.withResolvers<void>();
  const responses: Response[] = [];
  const startedApp = await startApp({
    credentials: { "a session": {} },
    routes: [
      createPath(async (req, res) => {
        await readBodyBytes(req);
        responses.push(res);
        await handler.promise;
        res.json({});
      }),
    ],
  });
  try {
    const { port } = startedApp;
    const disconnect = await openRequest(port, "/files", { isComplete: true });
    await waitUntil("the handler runs", () => responses.length > 0);
    await disconnect();
    await waitUntil("the server has seen it", () => responses[0]?.closed === true);
    const upload = () => sendRequest({ port, path: "/files", headers, body: Buffer.from("x") });
    expect((await upload()).status).toBe(429);
    handler.resolve();
    await waitUntil("another body is accepted", async () => (await upload()).status === 200);
  } finally {
    await startedApp.close();
  }
});

test("a body is no longer reserved if its client left while it was authenticated", async () => {
  const authKeys = Promise.withResolvers<void>();
  const startedApp = await startApp({
    credentials: { "a session": {} },
    waitForAuthKeys: () => authKeys.promise,
    routes: [createPath(async (_req, res) => void res.json({}))],
  });
  try {
    const { port } = startedApp;
    const disconnect = await openRequest(port, "/files", { isComplete: false });
    await waitUntil("it is authenticated", () => startedApp.getIntrospectionCount() > 0);
    await disconnect();
    // Once this response has arrived, the server has handled the earlier events of its sockets.
    await sendRequest({ port, path: "/none", headers, body: Buffer.from("x") });
    authKeys.resolve();
    await waitUntil("another body is accepted", async () => {
      const body = Buffer.from("x");
      return (await sendRequest({ port, path: "/files", headers, body })).status === 200;
    });
  } finally {
    await startedApp.close();
  }
});

test.each([
  ["/files", 2 * bodyBytesMax, "200"],
  ["/files", 2 * bodyBytesMax + 1, "PAYLOAD_TOO_LARGE"],
  ["/others", bodyBytesMax, "200"],
  ["/others", bodyBytesMax + 1, "PAYLOAD_TOO_LARGE"],
])(
  "%s with %i bytes: %s, with a declared length and in chunks (rule API-17)",
  async (path, length, expected) => {
    for (const framing of [{}, { "transfer-encoding": "chunked" }]) {
      const body = Buffer.alloc(length, "x");
      const response = await sendRequest({
        port: app.port,
        path,
        headers: { ...headers, ...framing },
        body,
      });
      expect(response.status === 200 ? "200" : getErrorCodes(response)).toBe(expected);
    }
  },
);
