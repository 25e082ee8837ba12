import { randomBytes } from "node:crypto";
import { generateApiKey } from "@payment-links/contracts";
import { type AttackRun, flood } from "./flood.ts";
import { holdSockets } from "./hold-sockets.ts";

type StartAttack = (run: AttackRun) => void;

const createHead = (method: string, path: string, headers = ""): string =>
  `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}\r\n`;

const pickByIndex = <Item>(items: readonly Item[], index: number): Item => {
  const item = items[index % items.length];
  if (item === undefined) throw new Error("the list to choose from is empty");
  return item;
};

const randomToken = (): string => randomBytes(32).toString("base64url");

/**
 * Creates the headers of a notice. The server needs the body to detect that the signature is
 * invalid.
 */
const createSignatureHeaders = () => ({
  "webhook-id": `msg_${randomToken()}`,
  "webhook-timestamp": String(Math.floor(Date.now() / 1_000)),
  "webhook-signature": `v1,${randomBytes(32).toString("base64")}`,
});

/** The maximum number of requests per connection. */
const requestsPerConnection = 4;
const sessionPath = "/console/api/session";
const socketReadBytes = 65_536;
const bodyBytes = 60_000;
/** Each of these chunks has one byte, but takes about 300 bytes of the server's memory. */
const tinyChunks = "1\r\n \r\n".repeat(5_000);
const deepJson = (prefix: string): string => prefix + "[".repeat(bodyBytes);

const createNotReading =
  (reading: "nothing" | "one byte per second"): StartAttack =>
  (run) => {
    const request = createHead("GET", run.target.filePath);
    holdSockets(run, {
      createFirstText: () => request.repeat(requestsPerConnection),
      // A socket that does not read detects a reset only when it writes.
      followUp: { everyMs: 3_000, text: request },
      readMode: reading,
    });
  };

const sessionHeaders = ({ target }: AttackRun) => ({ cookie: target.cookie });
const exportPaths = ["payment-links.csv", "payments.csv", "audit-log/export?format=csv"];

/**
 * The attacks by name. Each attack runs until its signal aborts. It limits its own number of
 * connections and its rate.
 */
export const attacks = {
  "not-reading": createNotReading("nothing"),
  "one-byte-per-second": createNotReading("one byte per second"),
  "slow-headers": (run) =>
    holdSockets(run, {
      createFirstText: () => `GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: ${"x".repeat(8_000)}`,
      followUp: { everyMs: 1_000, text: "x" },
      readMode: "all",
    }),
  "slow-bodies": (run) =>
    holdSockets(run, {
      createFirstText: (index) => {
        const json = "Content-Type: application/json\r\n";
        const chunked = `${json}Transfer-Encoding: chunked\r\n`;
        if (index % 4 === 0) return createHead("POST", sessionPath, chunked) + tinyChunks;
        const body = `${json}Content-Length: 60000\r\n`;
        if (index % 2 === 0) return createHead("POST", sessionPath, body);
        const signatureLines = Object.entries(createSignatureHeaders()).map(
          (pair) => `${pair.join(": ")}\r\n`,
        );
        return createHead(
          "POST",
          `/settlement-notices/${run.target.provider}`,
          signatureLines.join("") + body,
        );
      },
      followUp: { everyMs: 1_000, text: " " },
      readMode: "all",
    }),
  pipelining: (run) => {
    // With 64 sockets, this is more than 1,000 requests per second.
    const request = createHead("GET", "/checkout/logos/1.svg");
    const batch = request.repeat(requestsPerConnection);
    const followUp = { everyMs: 200, text: batch };
    holdSockets(run, { count: 64, createFirstText: () => batch, followUp, readMode: "all" });
    // As many requests as one read returns. Parsing all of them would take 75 ms.
    const floodText = request.repeat(Math.floor(socketReadBytes / request.length));
    holdSockets(run, { count: 64, createFirstText: () => floodText, readMode: "all" });
  },
  "huge-headers": (run) =>
    flood(run, {
      perSecond: 500,
      createCall: (n) => ({
        path: run.target.filePath,
        // Just below and just above the limit of 16 KiB.
        headers: { "x-long": "x".repeat(n % 2 === 0 ? 15_000 : 17_000) },
      }),
    }),
  "deep-json": (run) =>
    flood(run, {
      perSecond: 300,
      createCall: (n) =>
        n % 2 === 0
          ? { method: "POST", path: sessionPath, body: deepJson('{"token":') }
          : {
              method: "POST",
              path: "/v1/payment-link",
              headers: { "x-api-key": run.target.apiKey },
              body: deepJson('{"toAmount":'),
            },
    }),
  exports: (run) => {
    const exportPath = (n: number) => `/console/api/${pickByIndex(exportPaths, n)}`;
    flood(run, {
      perSecond: 100,
      inFlightMax: 400,
      createCall: (n) => ({ path: exportPath(n), headers: sessionHeaders(run) }),
    });
    holdSockets(run, {
      count: 20,
      createFirstText: (index) =>
        createHead("GET", exportPath(index), `Cookie: ${run.target.cookie}\r\n`),
      readMode: "one byte per second",
    });
  },
  streams: (run) =>
    holdSockets(run, {
      // The product allows 100 streams per address.
      count: Math.max(150, run.target.addresses.length * 40),
      createFirstText: (index) =>
        createHead(
          "GET",
          `/checkout/payment-links/${pickByIndex(run.target.linkIds, index)}/events`,
        ),
      readMode: "all",
    }),
  "sign-in-links": (run) =>
    flood(run, {
      createCall: (n) => ({
        method: "POST",
        path: `/console/api/session${n % 2 === 0 ? "" : "/link"}`,
        body: JSON.stringify({ token: randomToken() }),
      }),
    }),
  "siwe-nonces": (run) =>
    flood(run, {
      createCall: () => ({
        path: `/console/api/session/nonce?address=0x${randomBytes(20).toString("hex")}`,
      }),
    }),
  images: (run) =>
    flood(run, { createCall: (n) => ({ path: pickByIndex(run.target.imagePaths, n) }) }),
  "qr-codes": (run) =>
    flood(run, {
      createCall: (n) => ({ path: `/checkout/qr/${pickByIndex(run.target.linkIds, n)}.svg` }),
    }),
  "deep-offsets": (run) =>
    flood(run, {
      createCall: (n) =>
        n % 2 === 0
          ? {
              path: `/v1/payment-link?offset=${10_000 + n}`,
              headers: { "x-api-key": run.target.apiKey },
            }
          : { path: `/console/api/audit-log?offset=${10_000 + n}`, headers: sessionHeaders(run) },
    }),
  "invented-keys": (run) =>
    flood(run, {
      createCall: () => ({
        path: "/v1/payment-link",
        headers: { "x-api-key": generateApiKey("live") },
      }),
    }),
  notices: (run) =>
    flood(run, {
      perSecond: 300,
      createCall: () => ({
        method: "POST",
        path: `/settlement-notices/${run.target.provider}`,
        headers: createSignatureHeaders(),
        body: JSON.stringify({ id: "x".repeat(bodyBytes) }),
      }),
    }),
  "solana-requests": (run) =>
    flood(run, {
      createCall: () => ({
        method: "POST",
        path: `/checkout/solana/${run.target.solanaLinkId}`,
        body: JSON.stringify({ account: "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM" }),
      }),
    }),
  logos: (run) => flood(run, { createCall: () => ({ path: "/checkout/logos/1.svg" }) }),
  "not-found": (run) =>
    flood(run, {
      createCall: (n) => ({
        path: `/${randomToken()}`,
        headers: { accept: n % 2 === 0 ? "text/html" : "application/json" },
      }),
    }),
  redirects: (run) =>
    flood(run, {
      createCall: (n) => ({ path: `/@nobody/pay/${pickByIndex(run.target.linkIds, n)}` }),
    }),
} as const satisfies Record<string, StartAttack>;

export type AttackName = keyof typeof attacks;

export const attackNames = Object.keys(attacks) as readonly AttackName[];
