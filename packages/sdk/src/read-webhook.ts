import type { Webhook, WebhookBodies } from "./shapes.ts";

/** A received webhook, with the bytes of its body before any parsing. */
export type ReceivedRequest = {
  /** The bytes of the body. Pass text only if it is the exact UTF-8 decoding of the bytes. */
  body: Uint8Array | ArrayBuffer | string;
  /**
   * A Fetch `Headers` object, or an object of header names and values as in Node and Express. The
   * case of the names does not matter.
   */
  headers: Pick<Headers, "get"> | Readonly<Record<string, string | readonly string[] | undefined>>;
};

export type WebhookSettings = {
  /**
   * The endpoint's signing secret as shown in the console, including `whsec_`. Pass several secrets
   * while two endpoints share this address, for example during a rotation. Each endpoint then sends
   * every event under its own id. Deduplicate payments by `transaction.id` and completed links by
   * `paymentLinkId`.
   */
  secret: string | readonly string[];
  /**
   * The prefix of the header names, which is the service's `WEBHOOK_HEADER_PREFIX`. Default:
   * `Service`.
   */
  headerPrefix?: string | undefined;
  /**
   * The maximum difference between the timestamp and the current time, in seconds. Default: 300.
   */
  toleranceSeconds?: number | undefined;
  /** Returns the current time. Default: the system clock. */
  now?: (() => Date) | undefined;
};

/** Why a request was not accepted as a webhook. */
export type WebhookRefusal =
  | "header_missing"
  | "timestamp_off"
  | "signature_wrong"
  | "body_not_understood";

/**
 * The request is not a genuine webhook, or it replays an old one. Respond with 401 and do nothing.
 */
export class WebhookRefusedError extends Error {
  readonly reason: WebhookRefusal;

  constructor(reason: WebhookRefusal) {
    super(`webhook rejected: ${reason}`);
    this.name = "WebhookRefusedError";
    this.reason = reason;
  }
}

const defaultPrefix = "Service";
const defaultToleranceSeconds = 300;

/**
 * Verifies and parses a webhook. Checks the HMAC-SHA256 of the timestamp, a period and the bytes of
 * the body in constant time. Throws a `WebhookRefusedError` if a check fails, and a `TypeError` if
 * a setting or the type of the body is invalid. Events can repeat and arrive in any order.
 * Deduplicate them by the `id` of the result. That id is signed, but the id in the header is not.
 */
export const readWebhook = async (
  { body, headers }: ReceivedRequest,
  settings: WebhookSettings,
): Promise<Webhook> => {
  const { headerPrefix = defaultPrefix, toleranceSeconds = defaultToleranceSeconds } = settings;
  const { now = () => new Date() } = settings;
  const secrets = parseSecrets(settings.secret);
  const bytes = toBytes(body);
  const timestamp = getSingleHeader(headers, `${headerPrefix}-Timestamp`);
  const signature = getSingleHeader(headers, `${headerPrefix}-Signature`);
  if (timestamp === undefined || signature === undefined) {
    throw new WebhookRefusedError("header_missing");
  }
  const isWithinTolerance =
    /^\d{1,12}$/.test(timestamp) &&
    Math.abs(now().getTime() / 1_000 - Number(timestamp)) <= toleranceSeconds;
  if (!isWithinTolerance) throw new WebhookRefusedError("timestamp_off");
  const digest = parseSignature(signature);
  const prefix = encoder.encode(`${timestamp}.`);
  const signedPayload = joinChunks([prefix, bytes], prefix.length + bytes.length);
  if (digest === undefined || !(await isSignedByAnySecret(secrets, digest, signedPayload))) {
    throw new WebhookRefusedError("signature_wrong");
  }
  // Parses the verified copy, because the caller may have changed its own bytes in the meantime.
  return parseWebhook(signedPayload.subarray(timestamp.length + 1));
};

/**
 * Returns whether a webhook has this type, and narrows its `data` accordingly. New types may be
 * added. Respond with 2xx to types that you do not know.
 */
export const isWebhook = <Type extends keyof WebhookBodies>(
  webhook: { type: string },
  type: Type,
): webhook is WebhookBodies[Type] => webhook.type === type;

const encoder = new TextEncoder();

/**
 * Validates the secrets. For example, an unset variable must not become a secret that attackers can
 * guess.
 */
export const parseSecrets = (secret: string | readonly string[]): readonly string[] => {
  const secrets = [secret].flat();
  if (
    secrets.length === 0 ||
    !secrets.every((candidate) => /^whsec_[0-9A-Za-z+/=_-]{16,}$/.test(candidate))
  ) {
    throw new TypeError(
      "secret must be the endpoint's signing secret, including its whsec_ prefix",
    );
  }
  return secrets;
};

const toBytes = (body: ReceivedRequest["body"]): Uint8Array => {
  if (typeof body === "string") return encoder.encode(body);
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  // `instanceof` would fail for bytes from another realm, for example in a test runner or worker.
  if (ArrayBuffer.isView(body))
    return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  throw new TypeError("body must be the raw bytes of the request, before any parsing");
};

/** Joins the chunks of a body, which have `length` bytes together. */
export const joinChunks = (
  chunks: readonly Uint8Array[],
  length: number,
): Uint8Array<ArrayBuffer> => {
  const body = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    body.set(chunk, offset);
    offset += chunk.length;
  }
  return body;
};

/**
 * Returns a header that occurs exactly once. Ignores the case of names, because proxies and
 * frameworks change it.
 */
const getSingleHeader = (headers: ReceivedRequest["headers"], name: string): string | undefined => {
  // If a `Map` is passed as headers, its names are case-sensitive.
  if (isFetchHeaders(headers))
    return headers.get(name) ?? headers.get(name.toLowerCase()) ?? undefined;
  const matchingHeaders = Object.entries(headers).filter(
    ([key]) => key.toLowerCase() === name.toLowerCase(),
  );
  const values = matchingHeaders.flatMap(([, value]) => value ?? []);
  return values.length === 1 ? values[0] : undefined;
};

const isFetchHeaders = (headers: ReceivedRequest["headers"]): headers is Pick<Headers, "get"> =>
  typeof headers["get"] === "function";

const parseSignature = (signature: string): Uint8Array<ArrayBuffer> | undefined => {
  const [, hex] = /^v1=([0-9a-f]{64})$/.exec(signature) ?? [];
  return hex === undefined
    ? undefined
    : Uint8Array.from(hex.match(/../g) ?? [], (byte) => parseInt(byte, 16));
};

const isSignedByAnySecret = async (
  secrets: readonly string[],
  digest: Uint8Array<ArrayBuffer>,
  signedPayload: Uint8Array<ArrayBuffer>,
): Promise<boolean> => {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  for (const secret of secrets) {
    const secretBytes = encoder.encode(secret);
    const key = await crypto.subtle.importKey("raw", secretBytes, algorithm, false, ["verify"]);
    if (await crypto.subtle.verify("HMAC", key, digest, signedPayload)) return true;
  }
  return false;
};

const parseWebhook = (bytes: Uint8Array): Webhook => {
  try {
    const webhook = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as Webhook;
    if (typeof webhook.id === "string" && typeof webhook.type === "string") return webhook;
  } catch {
    // The error is thrown below. The syntax error is discarded because it would quote the body.
  }
  throw new WebhookRefusedError("body_not_understood");
};
