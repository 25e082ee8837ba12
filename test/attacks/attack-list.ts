import { randomBytes } from "node:crypto";
import { mintApiKey } from "@payment-links/contracts";
import { type AttackRun, flood } from "./flood.ts";
import { holdSockets } from "./hold-sockets.ts";

type StartAttack = (run: AttackRun) => void;

const head = (method: string, path: string, headers = ""): string =>
  `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}\r\n`;

const pick = <Thing>(things: readonly Thing[], n: number): Thing => {
  const thing = things[n % things.length];
  if (thing === undefined) throw new Error("the attack has nothing to choose from");
  return thing;
};

const random = (): string => randomBytes(32).toString("base64url");

/** Headers of a notice that only its body proves to be wrong. */
const signatureHeaders = () => ({
  "webhook-id": `msg_${random()}`,
  "webhook-timestamp": String(Math.floor(Date.now() / 1_000)),
  "webhook-signature": `v1,${randomBytes(32).toString("base64")}`,
});

/** As many requests as a connection may have. */
const requestsPerConnection = 10;
const bodyBytes = 60_000;
const deepJson = (start: string): string => start + "[".repeat(bodyBytes);

const notRead =
  (reading: "nothing" | "one byte per second"): StartAttack =>
  (run) => {
    const request = head("GET", run.target.filePath);
    holdSockets(run, {
      first: () => request.repeat(requestsPerConnection),
      // By a write a socket notices that it was reset.
      more: { everyMs: 3_000, text: request },
      reading,
    });
  };

const session = ({ target }: AttackRun) => ({ cookie: target.cookie });
const files = ["payment-links.csv", "payments.csv", "audit-log/export?format=csv"];

/** The attacks, by name. Each runs until its signal and within bounds of count and rate. */
export const attacks = {
  "not-reading": notRead("nothing"),
  "one-byte-per-second": notRead("one byte per second"),
  "slow-headers": (run) =>
    holdSockets(run, {
      first: () => `GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: ${"x".repeat(8_000)}`,
      more: { everyMs: 1_000, text: "x" },
      reading: "all",
    }),
  "slow-bodies": (run) =>
    holdSockets(run, {
      first: (index) => {
        const body = "Content-Type: application/json\r\nContent-Length: 60000\r\n";
        if (index % 2 === 0) return head("POST", "/console/api/session", body);
        const signature = Object.entries(signatureHeaders()).map(
          (pair) => `${pair.join(": ")}\r\n`,
        );
        return head(
          "POST",
          `/settlement-notices/${run.target.provider}`,
          signature.join("") + body,
        );
      },
      more: { everyMs: 1_000, text: " " },
      reading: "all",
    }),
  pipelining: (run) => {
    // At 64 sockets this is more than a thousand requests per second.
    const batch = head("GET", "/checkout/logos/1.svg").repeat(requestsPerConnection);
    const more = { everyMs: 500, text: batch };
    holdSockets(run, { count: 64, first: () => batch, more, reading: "all" });
  },
  "huge-headers": (run) =>
    flood(run, {
      perSecond: 500,
      callOf: (n) => ({
        path: run.target.filePath,
        // Just within the limit of 16 KiB, and just beyond it.
        headers: { "x-long": "x".repeat(n % 2 === 0 ? 15_000 : 17_000) },
      }),
    }),
  "deep-json": (run) =>
    flood(run, {
      perSecond: 300,
      callOf: (n) =>
        n % 2 === 0
          ? { method: "POST", path: "/console/api/session", body: deepJson('{"token":') }
          : {
              method: "POST",
              path: "/v1/payment-link",
              headers: { "x-api-key": run.target.apiKey },
              body: deepJson('{"toAmount":'),
            },
    }),
  exports: (run) => {
    const pathOf = (n: number) => `/console/api/${pick(files, n)}`;
    flood(run, {
      perSecond: 100,
      inFlightMax: 400,
      callOf: (n) => ({ path: pathOf(n), headers: session(run) }),
    });
    holdSockets(run, {
      count: 20,
      first: (index) => head("GET", pathOf(index), `Cookie: ${run.target.cookie}\r\n`),
      reading: "one byte per second",
    });
  },
  streams: (run) =>
    holdSockets(run, {
      // One address may have 100 of them.
      count: Math.max(150, run.target.addresses.length * 40),
      first: (index) =>
        head("GET", `/checkout/payment-links/${pick(run.target.linkIds, index)}/events`),
      reading: "all",
    }),
  "sign-in-links": (run) =>
    flood(run, {
      callOf: (n) => ({
        method: "POST",
        path: `/console/api/session${n % 2 === 0 ? "" : "/link"}`,
        body: JSON.stringify({ token: random() }),
      }),
    }),
  "siwe-nonces": (run) =>
    flood(run, {
      callOf: () => ({
        path: `/console/api/session/nonce?address=0x${randomBytes(20).toString("hex")}`,
      }),
    }),
  images: (run) => flood(run, { callOf: (n) => ({ path: pick(run.target.imagePaths, n) }) }),
  "qr-codes": (run) =>
    flood(run, { callOf: (n) => ({ path: `/checkout/qr/${pick(run.target.linkIds, n)}.svg` }) }),
  "deep-offsets": (run) =>
    flood(run, {
      callOf: (n) =>
        n % 2 === 0
          ? {
              path: `/v1/payment-link?offset=${10_000 + n}`,
              headers: { "x-api-key": run.target.apiKey },
            }
          : { path: `/console/api/audit-log?offset=${10_000 + n}`, headers: session(run) },
    }),
  "invented-keys": (run) =>
    flood(run, {
      callOf: () => ({ path: "/v1/payment-link", headers: { "x-api-key": mintApiKey("live") } }),
    }),
  notices: (run) =>
    flood(run, {
      perSecond: 300,
      callOf: () => ({
        method: "POST",
        path: `/settlement-notices/${run.target.provider}`,
        headers: signatureHeaders(),
        body: JSON.stringify({ id: "x".repeat(bodyBytes) }),
      }),
    }),
  "solana-requests": (run) =>
    flood(run, {
      callOf: () => ({
        method: "POST",
        path: `/checkout/solana/${run.target.solanaLinkId}`,
        body: JSON.stringify({ account: "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM" }),
      }),
    }),
  logos: (run) => flood(run, { callOf: () => ({ path: "/checkout/logos/1.svg" }) }),
  "not-found": (run) =>
    flood(run, {
      callOf: (n) => ({
        path: `/${random()}`,
        headers: { accept: n % 2 === 0 ? "text/html" : "application/json" },
      }),
    }),
  redirects: (run) =>
    flood(run, { callOf: (n) => ({ path: `/@nobody/pay/${pick(run.target.linkIds, n)}` }) }),
} as const satisfies Record<string, StartAttack>;

export type AttackName = keyof typeof attacks;

export const attackNames = Object.keys(attacks) as readonly AttackName[];
