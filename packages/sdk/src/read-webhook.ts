import type { Webhook, WebhookBodies } from "./shapes.ts";

/** A received webhook, with the bytes of its body before any parsing. */
export type ReceivedRequest = {
  /** Pass text only if it is the exact UTF-8 decoding of the bytes. */
  body: Uint8Array | ArrayBuffer | string;
  /**
   * A Fetch `Headers` object, or an object of header names in any letter case, as in Node and
   * Express.
   */
  headers: Pick<Headers, "get"> | Readonly<Record<string, string | readonly string[] | undefined>>;
};

export type WebhookSettings = {
  /**
   * The endpoint's signing secret as the console showed it, including `whsec_`. Pass several while
   * two endpoints share this address, for example during a rotation. Each endpoint then sends every
   * event under its own id: deduplicate payments by `transaction.id` and completed links by
   * `paymentLinkId`.
   */
  secret: string | readonly string[];
  /** The prefix of the header names: the service's `WEBHOOK_HEADER_PREFIX`. Defaults to `Service`. */
  headerPrefix?: string | undefined;
  /** How far the timestamp may differ from the current time, in seconds. Defaults to 300. */
  toleranceSeconds?: number | undefined;
  /** Returns the current time. Defaults to the system clock. */
  now?: (() => Date) | undefined;
};

/** Why a request is not accepted as a webhook. */
export type WebhookRefusal =
  | "header_missing"
  | "timestamp_off"
  | "signature_wrong"
  | "body_not_understood";

/**
 * The request is not a genuine webhook, or it is a replay of an old one: respond with 401 and do
 * nothing.
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
 * the body in constant time. Throws a `WebhookRefusedError` for a request that fails a check, and a
 * `TypeError` for an invalid setting or body type. Events may repeat and arrive in any order:
 * deduplicate by the `id` of the result. That id is signed; the id in the header is not.
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
  const signedPayload = concatBytes(encoder.encode(`${timestamp}.`), bytes);
  if (digest === undefined || !(await isSignedByAnySecret(secrets, digest, signedPayload))) {
    throw new WebhookRefusedError("signature_wrong");
  }
  // Parses the verified copy, because the caller may have changed its bytes since.
  return parseWebhook(signedPayload.subarray(timestamp.length + 1));
};

/**
 * Returns whether a webhook has this type, and narrows its `data` accordingly. New types may be
 * added: respond with 2xx to types that you do not know.
 */
export const isWebhook = <Type extends keyof WebhookBodies>(
  webhook: { type: string },
  type: Type,
): webhook is WebhookBodies[Type] => webhook.type === type;

const encoder = new TextEncoder();

/** Validates the secrets. An unset variable, for example, must not become a guessable key. */
const parseSecrets = (secret: string | readonly string[]): readonly string[] => {
  const secrets = [secret].flat();
  if (
    secrets.length === 0 ||
    !secrets.every((candidate) => /^whsec_[0-9A-Za-z+/=_-]{16,}$/.test(candidate))
  ) {
    throw new TypeError("secret must be the endpoint's signing secret, with its whsec_ prefix");
  }
  return secrets;
};

const toBytes = (body: ReceivedRequest["body"]): Uint8Array => {
  if (typeof body === "string") return encoder.encode(body);
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  // Not `instanceof`: the bytes may come from another realm, for example in a test runner or
  // worker.
  if (ArrayBuffer.isView(body))
    return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  throw new TypeError("body must be the raw bytes of the request, before any parsing");
};

const concatBytes = (first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> => {
  const combined = new Uint8Array(first.length + second.length);
  combined.set(first);
  combined.set(second, first.length);
  return combined;
};

/** Returns a header that occurs exactly once. Proxies and frameworks change the case of names. */
const getSingleHeader = (headers: ReceivedRequest["headers"], name: string): string | undefined => {
  // A `Map` passed as headers is case-sensitive.
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
    // Handled below. The syntax error is dropped because it would quote the body.
  }
  throw new WebhookRefusedError("body_not_understood");
};
