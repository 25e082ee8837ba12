import { createHmac } from "node:crypto";

/** The receiver's webhook secret. */
export const secret = `whsec_${"0123456789abcdef".repeat(4)}`;

/** A request as raw bytes, in the chunks in which it is sent. */
export type SampleRequest = {
  name: string;
  /** The event ID in the body, if there is one. */
  id: string;
  chunks: Buffer[];
  isGenuine: boolean;
};

type RequestParts = {
  body?: string | Buffer;
  signedBody?: string | Buffer;
  /** The timestamp header. This timestamp is also signed, unless `signedAt` is given. */
  timestamp?: string;
  signedAt?: string;
  signingSecret?: string;
  /**
   * The event ID header, which is not signed. By default, it has the ID in the body. Null omits the
   * header.
   */
  eventId?: string | null;
  /** Returns the header lines. */
  headers?: (timestamp: string, signature: string) => string[];
  chunkCount?: number;
};

const sign = (timestamp: string, body: string | Buffer, key = secret, hash = "sha256"): string =>
  createHmac(hash, key).update(`${timestamp}.`).update(body).digest("hex");

/** Creates a webhook body as the service writes it (rule HOOK-8). */
const createBody = (id: string, description: string | null = null): string =>
  JSON.stringify({
    createdAt: "2026-11-21T10:00:00.000Z",
    data: { amount: "25.5", description, paymentLinkId: "pl_1", receivedAmount: "25.5" },
    id,
    type: "payment_link.completed",
  });

/**
 * Creates the requests that each sample receives, in order. They are genuine requests, and requests
 * of an attacker who has recorded genuine requests but does not know the secret. `nowSeconds` is in
 * Unix seconds.
 */
export const createSampleRequests = (nowSeconds: number): SampleRequest[] => {
  const requests: SampleRequest[] = [];
  const addRequest = (isGenuine: boolean, name: string, parts: RequestParts = {}): void => {
    const {
      body = createBody("evt_1"),
      timestamp = String(nowSeconds),
      signingSecret = secret,
    } = parts;
    const { signedBody = body, signedAt = timestamp, chunkCount = 1 } = parts;
    const [, id = ""] = /"id": ?"(\w+)"/.exec(body.toString()) ?? [];
    const { headers = defaultHeaders, eventId = id } = parts;
    const bytes = Buffer.from(body);
    const signature = `v1=${sign(signedAt, signedBody, signingSecret)}`;
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
    const chunkSize = Math.ceil(request.length / chunkCount);
    const chunks = Array.from({ length: chunkCount }, (_, index) =>
      request.subarray(index * chunkSize, (index + 1) * chunkSize),
    );
    requests.push({ name, id, chunks, isGenuine });
  };
  const addGenuine = (name: string, parts?: RequestParts): void => addRequest(true, name, parts);
  const addForged = (name: string, parts?: RequestParts): void => addRequest(false, name, parts);
  const replaceSignature = (transform: (signature: string) => string): RequestParts => ({
    headers: (timestamp, signature) => defaultHeaders(timestamp, transform(signature)),
  });

  addGenuine("as the service sends it");
  addGenuine("replayed with another Service-Event-Id", { eventId: "evt_other" });
  addGenuine("replayed without a Service-Event-Id", { eventId: null });
  addGenuine("sent again a minute later", { timestamp: String(nowSeconds + 60) });
  addGenuine("with lowercase header names", {
    body: createBody("evt_2"),
    headers: (timestamp, signature) => [
      `service-timestamp: ${timestamp}`,
      `service-signature: ${signature}`,
    ],
  });
  addGenuine("with uppercase header names", {
    body: createBody("evt_3"),
    headers: (timestamp, signature) => [
      `SERVICE-TIMESTAMP: ${timestamp}`,
      `SERVICE-SIGNATURE: ${signature}`,
    ],
  });
  addGenuine("without a space after the colon", {
    body: createBody("evt_4"),
    headers: (timestamp, signature) => [
      `Service-Timestamp:${timestamp}`,
      `Service-Signature:${signature}`,
    ],
  });
  addGenuine("with bytes above 127 in another header", {
    body: createBody("evt_5"),
    headers: (timestamp, signature) => [
      "X-Proxy: \xe9\xff",
      ...defaultHeaders(timestamp, signature),
    ],
  });
  addGenuine("with characters of many scripts", {
    body: createBody("evt_6", "Ärger é 💶 \u202e 日本"),
  });
  addGenuine("with escaped characters", {
    body: createBody("evt_7", "x").replace('"x"', '"\\u00e9\\ud83d\\udcb6"'),
  });
  addGenuine("with whitespace in the JSON", {
    body: JSON.stringify(JSON.parse(createBody("evt_12")), undefined, 2),
  });
  addGenuine("with 200 KB of text", { body: createBody("evt_8", "x".repeat(200_000)) });
  addGenuine("in five chunks", { body: createBody("evt_9"), chunkCount: 5 });
  addGenuine("200 s old", { body: createBody("evt_10"), timestamp: String(nowSeconds - 200) });
  addGenuine("with a clock 280 s ahead", {
    body: createBody("evt_11"),
    timestamp: String(nowSeconds + 280),
  });

  addForged("without our headers", { eventId: null, headers: () => [] });
  addForged("without a timestamp", {
    headers: (_timestamp, signature) => [`Service-Signature: ${signature}`],
  });
  addForged("without a signature", {
    headers: (timestamp) => [`Service-Timestamp: ${timestamp}`],
  });
  addForged("with an empty timestamp", { timestamp: "" });
  addForged(
    "with an empty signature",
    replaceSignature(() => ""),
  );
  addForged("with headers of another prefix", {
    headers: (timestamp, signature) => [
      `Acme-Timestamp: ${timestamp}`,
      `Acme-Signature: ${signature}`,
    ],
  });
  addForged(
    "with nothing after v1=",
    replaceSignature(() => "v1="),
  );
  addForged(
    "without v1=",
    replaceSignature((signature) => signature.slice(3)),
  );
  addForged(
    "with v2=",
    replaceSignature((signature) => signature.replace("v1", "v2")),
  );
  addForged(
    "with an uppercase digest",
    replaceSignature((signature) => `v1=${signature.slice(3).toUpperCase()}`),
  );
  addForged(
    "with half a digest",
    replaceSignature((signature) => signature.slice(0, 35)),
  );
  addForged(
    "with more hex digits after the digest",
    replaceSignature((signature) => `${signature}00`),
  );
  addForged(
    "with other letters after the digest",
    replaceSignature((signature) => `${signature}zz`),
  );
  addForged(
    "with a space in the digest",
    replaceSignature((signature) => `${signature.slice(0, 9)} ${signature.slice(9)}`),
  );
  addForged(
    "with two signatures in one header",
    replaceSignature((signature) => `v1=${"0".repeat(64)}, ${signature}`),
  );
  addForged(
    "with bytes above 127 in the signature",
    replaceSignature(() => `v1=${"\xe9".repeat(64)}`),
  );
  addForged(
    "with UTF-8 in the signature",
    replaceSignature(() => Buffer.from(`v1=${"é".repeat(64)}`).toString("latin1")),
  );
  addForged("with the signature twice", {
    headers: (timestamp, signature) => [
      ...defaultHeaders(timestamp, signature),
      `Service-Signature: ${signature}`,
    ],
  });
  addForged("with the timestamp twice", {
    headers: (timestamp, signature) => [
      `Service-Timestamp: ${nowSeconds - 1}`,
      ...defaultHeaders(timestamp, signature),
    ],
  });
  addForged("with a superscript two as its timestamp", {
    headers: (_timestamp, signature) => defaultHeaders("\xb2", signature),
  });
  addForged("with a timestamp too long to parse", { timestamp: "9".repeat(400) });
  addForged("signed with another secret", { signingSecret: `whsec_${"1".repeat(64)}` });
  addForged("signed with the secret without its prefix", {
    signingSecret: secret.slice("whsec_".length),
  });
  addForged("signed with an empty secret", { signingSecret: "" });
  addForged("signed without its timestamp", {
    headers: (timestamp) => [
      `Service-Timestamp: ${timestamp}`,
      `Service-Signature: v1=${createHmac("sha256", secret).update(createBody("evt_1")).digest("hex")}`,
    ],
  });
  addForged("signed with SHA-1", {
    headers: (timestamp) =>
      defaultHeaders(timestamp, `v1=${sign(timestamp, createBody("evt_1"), secret, "sha1")}`),
  });
  addForged("with another amount", {
    body: createBody("evt_1").replaceAll("25.5", "99.5"),
    signedBody: createBody("evt_1"),
  });
  addForged("with another id", { body: createBody("evt_new"), signedBody: createBody("evt_1") });
  addForged("with a line break after the body", {
    body: `${createBody("evt_1")}\n`,
    signedBody: createBody("evt_1"),
  });
  addForged("with a byte order mark", {
    body: `\ufeff${createBody("evt_1")}`,
    signedBody: createBody("evt_1"),
  });
  addForged("without a body", { body: "", signedBody: createBody("evt_1") });
  addForged("with part of the body in the timestamp", {
    timestamp: `${nowSeconds}.${createBody("evt_1").split(".")[0]}`,
    body: createBody("evt_1").split(".").slice(1).join("."),
  });
  addForged("with a later timestamp", {
    timestamp: String(nowSeconds + 1),
    signedAt: String(nowSeconds),
  });
  addForged("310 s old", { timestamp: String(nowSeconds - 310) });
  addForged("with a clock 600 s ahead", { timestamp: String(nowSeconds + 600) });
  addForged("with a timestamp of zero", { timestamp: "0" });
  return requests;
};

const defaultHeaders = (timestamp: string, signature: string): string[] => [
  `Service-Timestamp: ${timestamp}`,
  `Service-Signature: ${signature}`,
];
