import { createHmac } from "node:crypto";

/** The secret that the receiver holds. */
export const secret = `whsec_${"0123456789abcdef".repeat(4)}`;

/** One request as raw bytes, in as many pieces as it is sent in. */
export type SampleRequest = {
  name: string;
  /** The id in its body, if there is one. */
  id: string;
  pieces: Buffer[];
  isGenuine: boolean;
};

type Parts = {
  body?: string | Buffer;
  signedBody?: string | Buffer;
  /** Of the header, and of the signature where `signedAt` is not given. */
  timestamp?: string;
  signedAt?: string;
  by?: string;
  /** The unsigned header, that of the body unless given; null for none. */
  eventId?: string | null;
  /** Makes the header lines. */
  headers?: (timestamp: string, signature: string) => string[];
  pieces?: number;
};

const sign = (timestamp: string, body: string | Buffer, key = secret, hash = "sha256"): string =>
  createHmac(hash, key).update(`${timestamp}.`).update(body).digest("hex");

/** A webhook's body as the service writes it (rule HOOK-8). */
const bodyOf = (id: string, description: string | null = null): string =>
  JSON.stringify({
    createdAt: "2026-11-21T10:00:00.000Z",
    data: { amount: "25.5", description, paymentLinkId: "pl_1", receivedAmount: "25.5" },
    id,
    type: "payment_link.completed",
  });

/**
 * The requests that each sample is tested with, in their order: genuine ones, and those of somebody who
 * has recorded genuine ones but does not know the secret. `now` is in Unix seconds.
 */
export const listSampleRequests = (now: number): SampleRequest[] => {
  const requests: SampleRequest[] = [];
  const add = (isGenuine: boolean, name: string, parts: Parts = {}): void => {
    const { body = bodyOf("evt_1"), timestamp = String(now), by = secret } = parts;
    const { signedBody = body, signedAt = timestamp, pieces: count = 1 } = parts;
    const [, id = ""] = /"id":"(\w+)"/.exec(body.toString()) ?? [];
    const { headers = usualHeaders, eventId = id } = parts;
    const bytes = Buffer.from(body);
    const signature = `v1=${sign(signedAt, signedBody, by)}`;
    const head = [
      "POST /hook HTTP/1.1",
      "Host: 127.0.0.1",
      "Connection: close",
      "Content-Type: application/json",
      `Content-Length: ${bytes.length}`,
      ...(eventId === null ? [] : [`Service-Event-Id: ${eventId}`]),
      ...headers(timestamp, signature),
      "",
      "",
    ].join("\r\n");
    const request = Buffer.concat([Buffer.from(head, "latin1"), bytes]);
    const size = Math.ceil(request.length / count);
    const pieces = Array.from({ length: count }, (_, at) =>
      request.subarray(at * size, (at + 1) * size),
    );
    requests.push({ name, id, pieces, isGenuine });
  };
  const genuine = (name: string, parts?: Parts): void => add(true, name, parts);
  const forged = (name: string, parts?: Parts): void => add(false, name, parts);
  const withSignature = (change: (signature: string) => string): Parts => ({
    headers: (timestamp, signature) => usualHeaders(timestamp, change(signature)),
  });

  genuine("as the service sends it");
  genuine("recorded, under another Service-Event-Id", { eventId: "evt_other" });
  genuine("recorded, without a Service-Event-Id", { eventId: null });
  genuine("sent again a minute later", { timestamp: String(now + 60) });
  genuine("with names in lower case", {
    body: bodyOf("evt_2"),
    headers: (timestamp, signature) => [
      `service-timestamp: ${timestamp}`,
      `service-signature: ${signature}`,
    ],
  });
  genuine("with names in upper case", {
    body: bodyOf("evt_3"),
    headers: (timestamp, signature) => [
      `SERVICE-TIMESTAMP: ${timestamp}`,
      `SERVICE-SIGNATURE: ${signature}`,
    ],
  });
  genuine("without a space behind the colon", {
    body: bodyOf("evt_4"),
    headers: (timestamp, signature) => [
      `Service-Timestamp:${timestamp}`,
      `Service-Signature:${signature}`,
    ],
  });
  genuine("with bytes above 127 in another header", {
    body: bodyOf("evt_5"),
    headers: (timestamp, signature) => ["X-Proxy: \xe9\xff", ...usualHeaders(timestamp, signature)],
  });
  genuine("with letters of many scripts", { body: bodyOf("evt_6", "Ärger é 💶 \u202e 日本") });
  genuine("with escaped letters", {
    body: bodyOf("evt_7", "x").replace('"x"', '"\\u00e9\\ud83d\\udcb6"'),
  });
  genuine("with 200 KB of text", { body: bodyOf("evt_8", "x".repeat(200_000)) });
  genuine("in five pieces", { body: bodyOf("evt_9"), pieces: 5 });
  genuine("200 s old", { body: bodyOf("evt_10"), timestamp: String(now - 200) });
  genuine("with a clock 280 s ahead", { body: bodyOf("evt_11"), timestamp: String(now + 280) });

  forged("with no header of ours", { eventId: null, headers: () => [] });
  forged("without a timestamp", {
    headers: (_timestamp, signature) => [`Service-Signature: ${signature}`],
  });
  forged("without a signature", {
    headers: (timestamp) => [`Service-Timestamp: ${timestamp}`],
  });
  forged("with an empty timestamp", { timestamp: "" });
  forged(
    "with an empty signature",
    withSignature(() => ""),
  );
  forged("with headers of another prefix", {
    headers: (timestamp, signature) => [
      `Acme-Timestamp: ${timestamp}`,
      `Acme-Signature: ${signature}`,
    ],
  });
  forged(
    "with nothing behind v1=",
    withSignature(() => "v1="),
  );
  forged(
    "without v1=",
    withSignature((signature) => signature.slice(3)),
  );
  forged(
    "with v2=",
    withSignature((signature) => signature.replace("v1", "v2")),
  );
  forged(
    "with the digest in capitals",
    withSignature((signature) => `v1=${signature.slice(3).toUpperCase()}`),
  );
  forged(
    "with half a digest",
    withSignature((signature) => signature.slice(0, 35)),
  );
  forged(
    "with a digest and more digits",
    withSignature((signature) => `${signature}00`),
  );
  forged(
    "with a digest and other letters",
    withSignature((signature) => `${signature}zz`),
  );
  forged(
    "with a space in the digest",
    withSignature((signature) => `${signature.slice(0, 9)} ${signature.slice(9)}`),
  );
  forged(
    "with two signatures in one header",
    withSignature((signature) => `v1=${"0".repeat(64)}, ${signature}`),
  );
  forged(
    "with bytes above 127 in the signature",
    withSignature(() => `v1=${"\xe9".repeat(64)}`),
  );
  forged(
    "with UTF-8 in the signature",
    withSignature(() => Buffer.from(`v1=${"é".repeat(64)}`).toString("latin1")),
  );
  forged("with the signature twice", {
    headers: (timestamp, signature) => [
      ...usualHeaders(timestamp, signature),
      `Service-Signature: ${signature}`,
    ],
  });
  forged("with the timestamp twice", {
    headers: (timestamp, signature) => [
      `Service-Timestamp: ${now - 1}`,
      ...usualHeaders(timestamp, signature),
    ],
  });
  forged("with a superscript two as its timestamp", {
    headers: (_timestamp, signature) => usualHeaders("\xb2", signature),
  });
  forged("with a number too long to parse", { timestamp: "9".repeat(400) });
  forged("signed with another secret", { by: `whsec_${"1".repeat(64)}` });
  forged("signed with the secret's digits alone", { by: secret.slice("whsec_".length) });
  forged("signed with an empty secret", { by: "" });
  forged("signed without its timestamp", {
    headers: (timestamp) => [
      `Service-Timestamp: ${timestamp}`,
      `Service-Signature: v1=${createHmac("sha256", secret).update(bodyOf("evt_1")).digest("hex")}`,
    ],
  });
  forged("signed with SHA-1", {
    headers: (timestamp) =>
      usualHeaders(timestamp, `v1=${sign(timestamp, bodyOf("evt_1"), secret, "sha1")}`),
  });
  forged("with another amount", {
    body: bodyOf("evt_1").replaceAll("25.5", "99.5"),
    signedBody: bodyOf("evt_1"),
  });
  forged("with another id", { body: bodyOf("evt_new"), signedBody: bodyOf("evt_1") });
  forged("with a line behind the body", {
    body: `${bodyOf("evt_1")}\n`,
    signedBody: bodyOf("evt_1"),
  });
  forged("with a byte order mark", {
    body: `\ufeff${bodyOf("evt_1")}`,
    signedBody: bodyOf("evt_1"),
  });
  forged("without a body", { body: "", signedBody: bodyOf("evt_1") });
  forged("with a part of the body in the timestamp", {
    timestamp: `${now}.${bodyOf("evt_1").split(".")[0]}`,
    body: bodyOf("evt_1").split(".").slice(1).join("."),
  });
  forged("with a later timestamp", { timestamp: String(now + 1), signedAt: String(now) });
  forged("310 s old", { timestamp: String(now - 310) });
  forged("with a clock 600 s ahead", { timestamp: String(now + 600) });
  forged("with a timestamp of zero", { timestamp: "0" });
  return requests;
};

const usualHeaders = (timestamp: string, signature: string): string[] => [
  `Service-Timestamp: ${timestamp}`,
  `Service-Signature: ${signature}`,
];
