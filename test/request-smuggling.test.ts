import { connect } from "node:net";
import { afterAll, beforeAll, expect } from "@jest/globals";
import { type TcpProxy, startTcpProxy } from "@payment-links/runtime/testing/tcp-proxy";
import { injectDelay } from "@payment-links/runtime/testing/inject-delay";
import { request } from "undici";
import { requireTools } from "./helm/require-tools.ts";
import { findTool } from "./rig/find-tool.ts";
import { type Merchant, createMerchant } from "./rig/client.ts";
import { startNginx } from "./rig/nginx.ts";
import { startServicesInProcess } from "./rig/services-in-process.ts";

const { describe, test } = requireTools("nginx");
const nginxPath = findTool("nginx");

let system: Awaited<ReturnType<typeof startServicesInProcess>>;
let proxy: TcpProxy;
let nginx: Awaited<ReturnType<typeof startNginx>>;
let victim: Merchant;

beforeAll(async () => {
  if (nginxPath === undefined) return;
  const unlimitedRate = { tokensPerSecond: 100_000, burst: 100_000 };
  system = await startServicesInProcess({
    limits: { perKey: unlimitedRate, perAddress: unlimitedRate },
  });
  proxy = await startTcpProxy(new URL(system.baseUrl));
  nginx = await startNginx(nginxPath, proxy.port);
  victim = await createMerchant(system, "victim");
});
afterAll(async () => {
  await nginx?.close();
  await proxy?.kill();
  await system?.close();
});

/**
 * A request that a parser could find inside another request, and the beginning of a request that
 * swallows the next one.
 */
const swallowingHead = "GET /smuggled HTTP/1.1\r\nHost: x\r\nX-Swallow: ";
const smuggledRequest = `${swallowingHead}y\r\n\r\n`;
const buildChunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;
const buildRequest = (...lines: string[]): string =>
  [
    "POST /console/api/session HTTP/1.1",
    "Host: 127.0.0.1",
    "Content-Type: application/json",
    ...lines,
  ].join("\r\n");
const buildContentLength = (text: string): string => `Content-Length: ${text.length}`;
const transferEncodingVariants = [
  "Transfer-Encoding: xchunked",
  "Transfer-Encoding : chunked",
  "Transfer-Encoding: chunked\r\nTransfer-Encoding: x",
  "Transfer-Encoding: x\r\nTransfer-Encoding: chunked",
  "Transfer-Encoding: chunked, identity",
  "Transfer-Encoding: identity, chunked",
  "Transfer-Encoding:\tchunked",
  "Transfer-Encoding:\x0bchunked",
  "Transfer-Encoding: \x00chunked",
  "X: x\nTransfer-Encoding: chunked",
  "X: x\rTransfer-Encoding: chunked",
  " Transfer-Encoding: chunked",
  "Transfer-Encoding\r\n : chunked",
  "Transfer-Encoding:\r\n chunked",
  "Transfer_Encoding: chunked",
  "transfer-encoding: CHUNKED",
  'Transfer-Encoding: "chunked"',
  "Transfer-Encoding: chunked;q=1",
];

/** Messages for which two parsers could disagree on where the message ends. */
const messages: (readonly [string, string])[] = [
  [
    "CL.TE",
    `${buildRequest(buildContentLength(`0\r\n\r\n${smuggledRequest}`), "Transfer-Encoding: chunked")}\r\n\r\n0\r\n\r\n${smuggledRequest}`,
  ],
  [
    "TE.CL",
    `${buildRequest("Content-Length: 4", "Transfer-Encoding: chunked")}\r\n\r\n${buildChunk(smuggledRequest)}0\r\n\r\n`,
  ],
  ...transferEncodingVariants.flatMap((header) => [
    [
      `TE.TE ${JSON.stringify(header)}, a longer Content-Length`,
      `${buildRequest(buildContentLength(`0\r\n\r\n${smuggledRequest}`), header)}\r\n\r\n0\r\n\r\n${smuggledRequest}`,
    ] as const,
    [
      `TE.TE ${JSON.stringify(header)}, a shorter Content-Length`,
      `${buildRequest("Content-Length: 4", header)}\r\n\r\n${buildChunk(smuggledRequest)}0\r\n\r\n`,
    ] as const,
  ]),
  [
    "two Content-Lengths",
    `${buildRequest("Content-Length: 0", buildContentLength(smuggledRequest))}\r\n\r\n${smuggledRequest}`,
  ],
  [
    "two Content-Lengths in reverse order",
    `${buildRequest(buildContentLength(smuggledRequest), "Content-Length: 0")}\r\n\r\n${smuggledRequest}`,
  ],
  [
    "a list of Content-Lengths",
    `${buildRequest(`Content-Length: 0, ${smuggledRequest.length}`)}\r\n\r\n${smuggledRequest}`,
  ],
  ...["+0", "-1", "0x0", "00", "0 0", "", "0\x0b", "1e1", "18446744073709551616"].map(
    (length) =>
      [
        `the Content-Length ${JSON.stringify(length)}`,
        `${buildRequest(`Content-Length: ${length}`)}\r\n\r\n${smuggledRequest}`,
      ] as const,
  ),
  [
    "a folded Content-Length",
    `${buildRequest("Content-Length:\r\n 0", "X: y")}\r\n\r\n${smuggledRequest}`,
  ],
  [
    "a folded header",
    `${buildRequest("X: y\r\n Content-Length: 0", buildContentLength("{}"))}\r\n\r\n{}${smuggledRequest}`,
  ],
  [
    "a Content-Length after a bare LF",
    `${buildRequest(`X: y\n${buildContentLength(smuggledRequest)}`)}\r\n\r\n${smuggledRequest}`,
  ],
  [
    "a head with bare LFs",
    `${buildRequest("Content-Length: 0").replaceAll("\r\n", "\n")}\n\n${smuggledRequest}`,
  ],
  [
    "a bare CR in a header",
    `${buildRequest(`X: y\r${buildContentLength(smuggledRequest)}`)}\r\n\r\n${smuggledRequest}`,
  ],
  [
    "a NUL in a header",
    `${buildRequest(`X: \0y`, buildContentLength(smuggledRequest))}\r\n\r\n${smuggledRequest}`,
  ],
  ["a space before the colon", `${buildRequest("Content-Length : 0")}\r\n\r\n${smuggledRequest}`],
  [
    "a chunk extension with a bare LF",
    `${buildRequest("Transfer-Encoding: chunked")}\r\n\r\n2;x\nxx\r\n${smuggledRequest.length.toString(16)}\r\n0\r\n\r\n${smuggledRequest}`,
  ],
  [
    "a long chunk extension",
    `${buildRequest("Transfer-Encoding: chunked")}\r\n\r\n2;${"x".repeat(4_000)}="\r\n{}\r\n0\r\n\r\n${smuggledRequest}`,
  ],
  ...["0x2", "+2", "-2", "2 ", " 2", "2\t", "00000000000000002", "fffffffffffffffff2"].map(
    (size) =>
      [
        `a chunk of size ${JSON.stringify(size)}`,
        `${buildRequest("Transfer-Encoding: chunked")}\r\n\r\n${size}\r\n{}\r\n0\r\n\r\n${smuggledRequest}`,
      ] as const,
  ),
  [
    "chunks with bare LFs",
    `${buildRequest("Transfer-Encoding: chunked")}\r\n\r\n2\n{}\n0\n\n${smuggledRequest}`,
  ],
  [
    "a chunk without its final CRLF",
    `${buildRequest("Transfer-Encoding: chunked")}\r\n\r\n2\r\n{}XX0\r\n\r\n${smuggledRequest}`,
  ],
  [
    "a trailer with a Content-Length",
    `${buildRequest("Transfer-Encoding: chunked")}\r\n\r\n2\r\n{}\r\n0\r\n${buildContentLength(smuggledRequest)}\r\n\r\n${smuggledRequest}`,
  ],
  [
    "GET with a body",
    `GET /console/api/session HTTP/1.1\r\nHost: x\r\n${buildContentLength(smuggledRequest)}\r\n\r\n${smuggledRequest}`,
  ],
  [
    "a chunked HTTP/1.0 request",
    `${buildRequest("Transfer-Encoding: chunked").replace("HTTP/1.1", "HTTP/1.0")}\r\n\r\n${buildChunk(smuggledRequest)}0\r\n\r\n`,
  ],
  [
    "an Upgrade to HTTP/2",
    `${buildRequest("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__", buildContentLength(smuggledRequest))}\r\n\r\n${smuggledRequest}`,
  ],
  [
    "Expect: 100-continue",
    `${buildRequest("Expect: 100-continue", buildContentLength(smuggledRequest))}\r\n\r\n${smuggledRequest}`,
  ],
  [
    "a target with an encoded line break",
    `GET /console%0d%0aX: HTTP/1.1\r\nHost: x\r\n\r\n${smuggledRequest}`,
  ],
  ["a target with a bare CR", `GET /console\rX HTTP/1.1\r\nHost: x\r\n\r\n${smuggledRequest}`],
  [
    "a Content-Length that is never reached",
    `${buildRequest("Content-Length: 65000")}\r\n\r\n${smuggledRequest}`,
  ],
];

/** A response arrives immediately. If the request is incomplete, there is no response. */
const responseMsMax = 500;

/** Opens a connection, sends the given bytes and keeps the connection open. */
const sendRawBytes = (port: number, text: string) => {
  const socket = connect(port, "127.0.0.1");
  let receivedText = "";
  const closePromise = new Promise<void>((resolve) => void socket.once("close", () => resolve()));
  const responseStarted = new Promise<void>((resolve) => void socket.once("data", () => resolve()));
  socket.on("data", (data: Buffer) => (receivedText += data.toString("latin1")));
  // A closed connection is also a valid result.
  socket.on("error", () => {});
  socket.write(text, "latin1");
  return {
    getReceived: () => receivedText,
    waitForResponse: () =>
      Promise.race([closePromise, responseStarted, injectDelay("quiet period", responseMsMax)]),
    waitUntilClosed: () => closePromise,
    close: () => socket.destroy(),
  };
};

/**
 * Requests the victim's account over the proxy's single connection. Every caller must get their own
 * account.
 */
const identifyVictim = async (): Promise<string> => {
  const response = await request(`http://127.0.0.1:${nginx.port}/console/api/account`, {
    headers: { cookie: victim.cookie },
  });
  const { id } = (await response.body.json()) as { id?: string };
  return `${response.statusCode} ${id ?? ""}`;
};

describe("behind a real nginx", () => {
  test("callers share one connection to the product, and each gets its own account", async () => {
    const connectionsBefore = proxy.connectionCount();
    for (let index = 0; index < 10; index += 1)
      expect(await identifyVictim()).toBe(`200 ${victim.userId}`);
    expect(proxy.connectionCount() - connectionsBefore).toBeLessThanOrEqual(1);
  });

  for (const [name, message] of messages) {
    test(`${name}: the next callers get their own responses`, async () => {
      // Sends the message that swallows the head of the next request last.
      for (const text of [message, message.replace(smuggledRequest, swallowingHead)]) {
        const caller = sendRawBytes(nginx.port, text);
        await caller.waitForResponse();
        for (let index = 0; index < 2; index += 1)
          expect(await identifyVictim()).toBe(`200 ${victim.userId}`);
        caller.close();
        expect(await identifyVictim()).toBe(`200 ${victim.userId}`);
      }
    });
  }
});

describe("sent to the product directly", () => {
  // All parsers agree on where these messages end.
  const harmlessPatterns = [
    /^(?:GET with|Expect|a target with an encoded|an Upgrade|a Content-Length that)/,
    /^TE\.TE "(?:Transfer_|transfer-|Transfer-Encoding:\\t)/,
    /"0+[02]"$/,
  ];
  for (const [name, message] of messages.filter(
    ([name]) => !harmlessPatterns.some((pattern) => pattern.test(name)),
  )) {
    test(`${name}: is at most one request, and ends the connection`, async () => {
      const { port } = new URL(system.baseUrl);
      const caller = sendRawBytes(Number(port), message);
      await caller.waitUntilClosed();
      const text = caller.getReceived();
      const responses = text.split(/(?=HTTP\/1\.1 \d{3} )/);
      expect(text).not.toContain("200 OK");
      expect(responses.at(-1)).toMatch(/^HTTP\/1\.1 4\d\d [^]*connection: close/i);
      expect(responses.length).toBeLessThanOrEqual(2);
      expect(text).not.toContain("404 Not Found");
    });
  }
});
