import { type ReceiverSettings, type WebhookHandler, createReceiver } from "./create-receiver.ts";
import { joinChunks } from "./read-webhook.ts";

export type { ReceiverSettings, WebhookHandler } from "./create-receiver.ts";

/**
 * Creates a handler for frameworks and platforms with the `Request` and `Response` of the Fetch
 * API, such as Next.js, Hono, Cloudflare Workers, Deno and Bun. It verifies the webhook, calls
 * `handler`, and responds with 204. The response is 401 if the webhook is not genuine, 413 if its
 * body is too large, and 500 if `handler` fails. The service sends a webhook again unless the
 * response is 2xx.
 */
export const receiveWebhooks = (settings: ReceiverSettings, handler: WebhookHandler) => {
  const { receive } = createReceiver(settings, handler);
  return async (request: Request): Promise<Response> => {
    const status = await receive(request.headers, (bytesMax) => readBody(request, bytesMax));
    return new Response(null, { status });
  };
};

/** Reads the bytes of a body. Returns undefined if there are more than `bytesMax`. */
const readBody = async (request: Request, bytesMax: number): Promise<Uint8Array | undefined> => {
  const chunks: Uint8Array[] = [];
  let length = 0;
  if (request.bodyUsed) throw new TypeError("The body of the request has already been read.");
  const reader = request.body?.getReader();
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (done || value === undefined) return joinChunks(chunks, length);
    length += value.length;
    if (length > bytesMax) {
      // The client may still be sending, so this does not wait for the result.
      reader?.cancel().catch(() => {});
      return undefined;
    }
    chunks.push(value);
  }
};
