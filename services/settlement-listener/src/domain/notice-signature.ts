import { type KeyObject, createHmac, timingSafeEqual } from "node:crypto";

/**
 * The maximum difference between a notice's timestamp and our clock, in the past or in the future
 * (Standard Webhooks 1.0).
 */
const toleranceSeconds = 300;

const signaturesMax = 20;
const unixSecondsPattern = /^\d{1,12}$/;
const versionPrefix = "v1,";
/** The length of a base64-encoded SHA-256 digest. */
const digestLength = 44;

/** The three headers of Standard Webhooks 1.0, unmodified. */
export type SignatureHeaders = {
  id: string | undefined;
  timestamp: string | undefined;
  /** Space-separated `v1,<base64>` entries. Entries of other versions are ignored. */
  signature: string | undefined;
};

type SignedNotice = {
  headers: SignatureHeaders;
  body: Buffer;
  /** All currently valid keys. There are several during a key rotation. */
  keys: readonly KeyObject[];
  now: Date;
};

/**
 * Checks the signature headers before the body is read. Returns why they are invalid, or undefined
 * if they could belong to a genuine notice.
 */
export const checkSignatureHeaders = (
  { id, timestamp, signature }: SignatureHeaders,
  now: Date,
): "missing" | "stale" | "wrong" | undefined => {
  if (!id || !timestamp || !signature) return "missing";
  if (!unixSecondsPattern.test(timestamp)) return "wrong";
  const nowSeconds = Math.floor(now.getTime() / 1000);
  if (Math.abs(nowSeconds - Number(timestamp)) > toleranceSeconds) return "stale";
  return parseSignatures(signature).some(({ length }) => length === digestLength)
    ? undefined
    : "wrong";
};

/**
 * Verifies a notice's signature (Standard Webhooks 1.0): an HMAC-SHA256 of `id.timestamp.body`
 * under any of the keys. Does not parse the body.
 */
export const verifySignature = ({
  headers,
  body,
  keys,
  now,
}: SignedNotice): "valid" | "missing" | "stale" | "wrong" => {
  const fault = checkSignatureHeaders(headers, now);
  if (fault !== undefined) return fault;
  const { id, timestamp, signature = "" } = headers;
  const receivedSignatures = parseSignatures(signature);
  const isValid = keys
    .map((key) => computeSignature(key, `${id}.${timestamp}.`, body))
    .some((expected) =>
      receivedSignatures.some((receivedSignature) => isEqualSignature(receivedSignature, expected)),
    );
  return isValid ? "valid" : "wrong";
};

const parseSignatures = (header: string): Buffer[] =>
  header
    .split(" ", signaturesMax)
    .filter((entry) => entry.startsWith(versionPrefix))
    .map((entry) => Buffer.from(entry.slice(versionPrefix.length), "latin1"));

// Node decodes headers as Latin-1, so encoding as Latin-1 restores the exact bytes that were
// signed.
const computeSignature = (key: KeyObject, signedPrefix: string, body: Buffer): Buffer => {
  const digest = createHmac("sha256", key)
    .update(signedPrefix, "latin1")
    .update(body)
    .digest("base64");
  return Buffer.from(digest, "latin1");
};

const isEqualSignature = (received: Buffer, expected: Buffer): boolean =>
  received.length === expected.length && timingSafeEqual(received, expected);
