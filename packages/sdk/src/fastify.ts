import {
  type ReceiverSettings,
  type WebhookHandler,
  createReceiver,
  isRawBody,
} from "./create-receiver.ts";

export type { ReceiverSettings, WebhookHandler } from "./create-receiver.ts";

/** The part of a Fastify instance that is used. */
type FastifyScope = {
  removeAllContentTypeParsers(): void;
  addContentTypeParser(
    contentType: string,
    options: { parseAs: "buffer"; bodyLimit: number },
    parser: (
      request: unknown,
      body: Uint8Array,
      done: (error: null, body: Uint8Array) => void,
    ) => void,
  ): unknown;
  post(path: string, handler: (request: FastifyRequest, reply: FastifyReply) => unknown): unknown;
};
type FastifyRequest = {
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: unknown;
};
type FastifyReply = { code(status: number): { send(): unknown } };

/**
 * Creates a Fastify plugin with the route `POST <path>`. It verifies the webhook, calls `handler`,
 * and responds with 204. The response is 401 if the webhook is not genuine, 413 if its body is too
 * large, and 500 if `handler` fails. The service sends a webhook again unless the response is 2xx.
 * The plugin has its own body parser, and the parsers of other routes stay.
 */
export const receiveWebhooks = (
  { path, ...settings }: ReceiverSettings & { path: string },
  handler: WebhookHandler,
) => {
  const { bodyBytesMax, receive } = createReceiver(settings, handler);
  return async (scope: FastifyScope): Promise<void> => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      "*",
      { parseAs: "buffer", bodyLimit: bodyBytesMax },
      (_request, body, done) => done(null, body),
    );
    scope.post(path, async ({ body, headers }, reply) => {
      const bytes = isRawBody(body) ? body : new Uint8Array();
      return reply.code(await receive(headers, async () => bytes)).send();
    });
  };
};
