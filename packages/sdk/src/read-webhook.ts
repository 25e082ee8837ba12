import type { Webhook, WebhookBodies } from "./shapes.ts";

/** A webhook as it came: its bytes before anything has parsed them. */
export type ReceivedRequest = {
  /** Text only where it is what the bytes say in UTF-8. */
  body: Uint8Array | ArrayBuffer | string;
  /** Those of the Fetch API, or by their names, in any case, as Node and Express have them. */
  headers: Pick<Headers, "get"> | Readonly<Record<string, string | readonly string[] | undefined>>;
};

export type WebhookSettings = {
  /**
   * The endpoint's signing secret as it was shown, `whsec_` included; several while two endpoints have
   * this address, as when one takes the other's place. Each then tells of everything under an id of its
   * own: know a payment by its `transaction.id`, a completed link by its `paymentLinkId`.
   */
  secret: string | readonly string[];
  /** What the headers' names begin with: the service's `WEBHOOK_HEADER_PREFIX`; `Service` unless given. */
  headerPrefix?: string | undefined;
  /** How far its timestamp may be off, in seconds; 300 unless given. */
  toleranceSeconds?: number | undefined;
  /** The present; the machine's clock unless given. */
  now?: (() => Date) | undefined;
};

/** Why a request is no webhook of the service. */
export type WebhookRefusal =
  | "header_missing"
  | "timestamp_off"
  | "signature_wrong"
  | "body_not_understood";

/** The request is no webhook of the service, or an old one once more: answer 401 and do nothing. */
export class WebhookRefusedError extends Error {
  readonly reason: WebhookRefusal;

  constructor(reason: WebhookRefusal) {
    super(`the webhook is refused: ${reason}`);
    this.name = "WebhookRefusedError";
    this.reason = reason;
  }
}

const defaultPrefix = "Service";
const defaultToleranceSeconds = 300;

/**
 * Verifies a webhook and reads it: the HMAC-SHA256 over timestamp, a period and the body's bytes, in
 * constant time. Throws a WebhookRefusedError, and a TypeError where a setting or the body cannot be
 * meant. The same event may come again, and in any order: know it by the answer's `id`, which is signed,
 * and not by the header's, which is not.
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
  // The copy that was verified: whoever gave the bytes may have changed them meanwhile.
  return parseWebhook(signedPayload.subarray(timestamp.length + 1));
};

/**
 * Whether a webhook is of this type; then its `data` is of that type, too. New types may come: answer 2xx
 * to what you do not know.
 */
export const isWebhook = <Type extends keyof WebhookBodies>(
  webhook: { type: string },
  type: Type,
): webhook is WebhookBodies[Type] => webhook.type === type;

const encoder = new TextEncoder();

/** What is no secret, as of an unset variable, must not become a key that anybody can guess. */
const parseSecrets = (secret: string | readonly string[]): readonly string[] => {
  const secrets = [secret].flat();
  if (
    secrets.length === 0 ||
    !secrets.every((candidate) => /^whsec_[0-9A-Za-z+/=_-]{16,}$/.test(candidate))
  ) {
    throw new TypeError("secret must be the endpoint's signing secret, whsec_ included");
  }
  return secrets;
};

const toBytes = (body: ReceivedRequest["body"]): Uint8Array => {
  if (typeof body === "string") return encoder.encode(body);
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  // Not `instanceof`: the bytes may be of another realm, as in a test runner or a worker.
  if (ArrayBuffer.isView(body))
    return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  throw new TypeError("body must be the bytes as they came, before anything has parsed them");
};

const concatBytes = (first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> => {
  const combined = new Uint8Array(first.length + second.length);
  combined.set(first);
  combined.set(second, first.length);
  return combined;
};

/** A header that is there once; proxies and frameworks write names in any case. */
const getSingleHeader = (headers: ReceivedRequest["headers"], name: string): string | undefined => {
  // A Map of them knows case.
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
    // Told below: a syntax error would name the body's words.
  }
  throw new WebhookRefusedError("body_not_understood");
};
