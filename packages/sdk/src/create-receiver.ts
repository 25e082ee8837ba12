import {
  type ReceivedRequest,
  WebhookRefusedError,
  type WebhookSettings,
  parseSecrets,
  readWebhook,
} from "./read-webhook.ts";
import { requireIntegerInRange } from "./require-integer.ts";
import type { Webhook } from "./shapes.ts";

export type ReceiverSettings = WebhookSettings & {
  /** The maximum size of a body, from 1 to 67,108,864 bytes. Default: 262,144 bytes. */
  bodyBytesMax?: number | undefined;
  /**
   * Called with the error if your handler fails, or if the request cannot be read. The response is
   * then 500, and the webhook is sent again. Default: `console.error`.
   */
  onError?: ((error: unknown) => void) | undefined;
};

/**
 * Handles a verified webhook. The same webhook can arrive again, also while it is being handled, so
 * handle each `id` once. After an error, it is sent again.
 */
export type WebhookHandler = (webhook: Webhook) => unknown;

/** The status of the response. */
export type ReceiverStatus = 204 | 401 | 413 | 500;

const bodyBytesDefault = 262_144;
const bodyBytesLimit = 67_108_864;

/**
 * Creates the function that verifies a webhook, calls the handler, and returns the status of the
 * response. `readBody` returns the raw bytes, or undefined if there are more than `bodyBytesMax`.
 * Throws a `TypeError` immediately if a setting is invalid.
 */
export const createReceiver = (settings: ReceiverSettings, handler: WebhookHandler) => {
  // oxlint-disable-next-line no-console -- without a callback, a developer sees the error here
  const { bodyBytesMax = bodyBytesDefault, onError = (error) => console.error(error) } = settings;
  parseSecrets(settings.secret);
  requireIntegerInRange("bodyBytesMax", bodyBytesMax, bodyBytesLimit);
  const receive = async (
    headers: ReceivedRequest["headers"],
    readBody: (bodyBytesMax: number) => Promise<ReceivedRequest["body"] | undefined>,
  ): Promise<ReceiverStatus> => {
    try {
      const body = await readBody(bodyBytesMax);
      if (body === undefined) return 413;
      await handler(await readWebhook({ body, headers }, settings));
      return 204;
    } catch (error) {
      if (error instanceof WebhookRefusedError) return 401;
      reportError(onError, error);
      return 500;
    }
  };
  return { bodyBytesMax, receive };
};

/** A failing callback must not prevent the response. */
const reportError = (onError: (error: unknown) => void, error: unknown): void => {
  try {
    onError(error);
  } catch {
    // The response is 500 in any case.
  }
};

/** Returns whether a value has the raw bytes of a body. */
export const isRawBody = (value: unknown): value is Uint8Array | string =>
  typeof value === "string" || ArrayBuffer.isView(value);
