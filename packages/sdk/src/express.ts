import {
  type ReceiverSettings,
  type WebhookHandler,
  createReceiver,
  isRawBody,
} from "./create-receiver.ts";
import { type ReceivedRequest, joinChunks } from "./read-webhook.ts";

export type { ReceiverSettings, WebhookHandler } from "./create-receiver.ts";

/** The part of a request of Express, Connect or `node:http` that is used. */
type NodeRequest = {
  headers: Readonly<Record<string, string | string[] | undefined>>;
  readableEnded: boolean;
  on(event: string, listener: (chunk: Uint8Array) => void): unknown;
  off(event: string, listener: (chunk: Uint8Array) => void): unknown;
};

/** The part of a response that is used. */
type NodeResponse = {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(): unknown;
};

/**
 * Creates a route handler for Express 4 and 5, Connect and `node:http`. It verifies the webhook,
 * calls `handler`, and responds with 204. The response is 401 if the webhook is not genuine, 413 if
 * its body is too large, and 500 if `handler` fails. The service sends a webhook again unless the
 * response is 2xx. Add the route before body parsers such as `express.json()`.
 */
export const receiveWebhooks = (settings: ReceiverSettings, handler: WebhookHandler) => {
  const { receive } = createReceiver(settings, handler);
  return async (req: NodeRequest, res: NodeResponse): Promise<void> => {
    const status = await receive(req.headers, (bytesMax) => readBody(req, bytesMax));
    res.statusCode = status;
    // The rest of the body is not read, so the connection cannot be used again.
    if (status === 413) res.setHeader("Connection", "close");
    res.end();
  };
};

const readBody = async (
  req: NodeRequest,
  bytesMax: number,
): Promise<ReceivedRequest["body"] | undefined> => {
  // `express.raw()` and similar parsers store the bytes.
  const body: unknown = "body" in req ? req.body : undefined;
  if (isRawBody(body)) return body.length > bytesMax ? undefined : body;
  if (req.readableEnded)
    throw new TypeError(
      "The body was parsed before its signature could be verified. Add this route before body parsers such as express.json().",
    );
  return readStream(req, bytesMax);
};

/**
 * Reads the bytes of a stream. Returns undefined if there are more than `bytesMax`, or if the
 * client disconnects, which then gets no response.
 */
const readStream = (req: NodeRequest, bytesMax: number): Promise<Uint8Array | undefined> =>
  new Promise((resolve) => {
    const chunks: Uint8Array[] = [];
    let length = 0;
    const collect = (chunk: Uint8Array) => {
      length += chunk.length;
      if (length <= bytesMax) {
        chunks.push(chunk);
        return;
      }
      req.off("data", collect);
      resolve(undefined);
    };
    req.on("data", collect);
    req.on("end", () => resolve(joinChunks(chunks, length)));
    req.on("error", () => resolve(undefined));
    req.on("close", () => resolve(undefined));
  });
