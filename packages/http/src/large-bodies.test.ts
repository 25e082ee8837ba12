import { expect, test } from "@jest/globals";
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
