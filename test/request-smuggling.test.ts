import { connect } from "node:net";
import { afterAll, beforeAll, expect } from "@jest/globals";
import { type TcpProxy, openTcpProxy } from "@payment-links/runtime/testing/tcp-proxy";
import { injectDelay } from "@payment-links/runtime/testing/inject-delay";
import { request } from "undici";
import { needing } from "./helm/tools.ts";
import { findTool } from "./rig/find-tool.ts";
import { type Merchant, openMerchant } from "./rig/client.ts";
import { openNginx } from "./rig/nginx.ts";
import { openServicesInProcess } from "./rig/services-in-process.ts";

const { describe, test } = needing("nginx");
const program = findTool("nginx");

let system: Awaited<ReturnType<typeof openServicesInProcess>>;
let between: TcpProxy;
let nginx: Awaited<ReturnType<typeof openNginx>>;
let victim: Merchant;

beforeAll(async () => {
  if (program === undefined) return;
  const often = { tokensPerSecond: 100_000, burst: 100_000 };
  system = await openServicesInProcess({ limits: { perKey: often, perAddress: often } });
  between = await openTcpProxy(new URL(system.baseUrl));
  nginx = await openNginx(program, between.port);
  victim = await openMerchant(system, "victim");
});
afterAll(async () => {
  await nginx?.close();
  await between?.kill();
  await system?.close();
});

/** A request that nobody sent, if some reader takes it for one, and the head of one that swallows. */
const smuggled = "GET /smuggled HTTP/1.1\r\nHost: x\r\nX-Swallow: ";
const hidden = `${smuggled}y\r\n\r\n`;
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;
const post = (...lines: string[]): string =>
  [
    "POST /console/api/session HTTP/1.1",
    "Host: 127.0.0.1",
    "Content-Type: application/json",
    ...lines,
  ].join("\r\n");
const ofLength = (text: string): string => `Content-Length: ${text.length}`;
const chunkedForms = [
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

/** Messages of which two readers may think differently where they end. */
const messages: (readonly [string, string])[] = [
  [
    "CL.TE",
    `${post(ofLength(`0\r\n\r\n${hidden}`), "Transfer-Encoding: chunked")}\r\n\r\n0\r\n\r\n${hidden}`,
  ],
  [
    "TE.CL",
    `${post("Content-Length: 4", "Transfer-Encoding: chunked")}\r\n\r\n${chunk(hidden)}0\r\n\r\n`,
  ],
  ...chunkedForms.flatMap((form) => [
    [
      `TE.TE ${JSON.stringify(form)}, the length longer`,
      `${post(ofLength(`0\r\n\r\n${hidden}`), form)}\r\n\r\n0\r\n\r\n${hidden}`,
    ] as const,
    [
      `TE.TE ${JSON.stringify(form)}, the length shorter`,
      `${post("Content-Length: 4", form)}\r\n\r\n${chunk(hidden)}0\r\n\r\n`,
    ] as const,
  ]),
  ["two lengths", `${post("Content-Length: 0", ofLength(hidden))}\r\n\r\n${hidden}`],
  ["two lengths, the other way", `${post(ofLength(hidden), "Content-Length: 0")}\r\n\r\n${hidden}`],
  ["a list of lengths", `${post(`Content-Length: 0, ${hidden.length}`)}\r\n\r\n${hidden}`],
  ...["+0", "-1", "0x0", "00", "0 0", "", "0\x0b", "1e1", "18446744073709551616"].map(
    (length) =>
      [
        `the length ${JSON.stringify(length)}`,
        `${post(`Content-Length: ${length}`)}\r\n\r\n${hidden}`,
      ] as const,
  ),
  ["a folded length", `${post("Content-Length:\r\n 0", "X: y")}\r\n\r\n${hidden}`],
  ["a folded header", `${post("X: y\r\n Content-Length: 0", ofLength("{}"))}\r\n\r\n{}${hidden}`],
  ["a length behind a bare LF", `${post(`X: y\n${ofLength(hidden)}`)}\r\n\r\n${hidden}`],
  [
    "a head that bare LFs end",
    `${post("Content-Length: 0").replaceAll("\r\n", "\n")}\n\n${hidden}`,
  ],
  ["a bare CR in a header", `${post(`X: y\r${ofLength(hidden)}`)}\r\n\r\n${hidden}`],
  ["a NUL in a header", `${post(`X: \0y`, ofLength(hidden))}\r\n\r\n${hidden}`],
  ["a blank before the colon", `${post("Content-Length : 0")}\r\n\r\n${hidden}`],
  [
    "a chunk's extension with a bare LF",
    `${post("Transfer-Encoding: chunked")}\r\n\r\n2;x\nxx\r\n${hidden.length.toString(16)}\r\n0\r\n\r\n${hidden}`,
  ],
  [
    "a long chunk extension",
    `${post("Transfer-Encoding: chunked")}\r\n\r\n2;${"x".repeat(4_000)}="\r\n{}\r\n0\r\n\r\n${hidden}`,
  ],
  ...["0x2", "+2", "-2", "2 ", " 2", "2\t", "00000000000000002", "fffffffffffffffff2"].map(
    (size) =>
      [
        `a chunk of the size ${JSON.stringify(size)}`,
        `${post("Transfer-Encoding: chunked")}\r\n\r\n${size}\r\n{}\r\n0\r\n\r\n${hidden}`,
      ] as const,
  ),
  [
    "chunks that bare LFs end",
    `${post("Transfer-Encoding: chunked")}\r\n\r\n2\n{}\n0\n\n${hidden}`,
  ],
  [
    "a chunk without its end",
    `${post("Transfer-Encoding: chunked")}\r\n\r\n2\r\n{}XX0\r\n\r\n${hidden}`,
  ],
  [
    "a trailer that names a length",
    `${post("Transfer-Encoding: chunked")}\r\n\r\n2\r\n{}\r\n0\r\n${ofLength(hidden)}\r\n\r\n${hidden}`,
  ],
  [
    "GET with a body",
    `GET /console/api/session HTTP/1.1\r\nHost: x\r\n${ofLength(hidden)}\r\n\r\n${hidden}`,
  ],
  [
    "chunked in HTTP/1.0",
    `${post("Transfer-Encoding: chunked").replace("HTTP/1.1", "HTTP/1.0")}\r\n\r\n${chunk(hidden)}0\r\n\r\n`,
  ],
  [
    "an Upgrade to HTTP/2",
    `${post("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__", ofLength(hidden))}\r\n\r\n${hidden}`,
  ],
  ["Expect: 100-continue", `${post("Expect: 100-continue", ofLength(hidden))}\r\n\r\n${hidden}`],
  ["a target with a line in it", `GET /console%0d%0aX: HTTP/1.1\r\nHost: x\r\n\r\n${hidden}`],
  ["a target with a bare CR", `GET /console\rX HTTP/1.1\r\nHost: x\r\n\r\n${hidden}`],
  ["a length that is never reached", `${post("Content-Length: 65000")}\r\n\r\n${hidden}`],
];

/** An answer comes at once, unless the request is not at its end: then none does. */
const answerMsMax = 500;

/** Opens a connection of a caller who sends these bytes and leaves it open. */
const sendRaw = (port: number, text: string) => {
  const socket = connect(port, "127.0.0.1");
  let received = "";
  const closed = new Promise<void>((resolve) => void socket.once("close", () => resolve()));
  const heard = new Promise<void>((resolve) => void socket.once("data", () => resolve()));
  socket.on("data", (part: Buffer) => (received += part.toString("latin1")));
  // A connection that is cut is an answer, too.
  socket.on("error", () => {});
  socket.write(text, "latin1");
  return {
    received: () => received,
    heard: () => Promise.race([closed, heard, injectDelay("quiet period", answerMsMax)]),
    closed: () => closed,
    close: () => socket.destroy(),
  };
};

/** Asks who the caller is, over the proxy's one connection: everybody must hear of himself. */
const asVictim = async (): Promise<string> => {
  const answer = await request(`http://127.0.0.1:${nginx.port}/console/api/account`, {
    headers: { cookie: victim.cookie },
  });
  const { id } = (await answer.body.json()) as { id?: string };
  return `${answer.statusCode} ${id ?? ""}`;
};

describe("behind a real nginx", () => {
  test("callers share one connection to the product, and each hears of himself", async () => {
    const before = between.connections();
    for (let n = 0; n < 10; n += 1) expect(await asVictim()).toBe(`200 ${victim.userId}`);
    expect(between.connections() - before).toBeLessThanOrEqual(1);
  });

  for (const [name, message] of messages) {
    test(`${name}: the next callers get their own answers`, async () => {
      // What swallows the head of the next request comes last.
      for (const text of [message, message.replace(hidden, smuggled)]) {
        const caller = sendRaw(nginx.port, text);
        await caller.heard();
        for (let n = 0; n < 2; n += 1) expect(await asVictim()).toBe(`200 ${victim.userId}`);
        caller.close();
        expect(await asVictim()).toBe(`200 ${victim.userId}`);
      }
    });
  }
});

describe("said to the product itself", () => {
  // It reads these as everybody does.
  const harmless = [
    /^(?:GET with|Expect|a target with a line|an Upgrade|a length that)/,
    /^TE\.TE "(?:Transfer_|transfer-|Transfer-Encoding:\\t)/,
    /"0+[02]"$/,
  ];
  for (const [name, message] of messages.filter(
    ([name]) => !harmless.some((one) => one.test(name)),
  )) {
    test(`${name}: is one request or none, and ends the connection`, async () => {
      const { port } = new URL(system.baseUrl);
      const caller = sendRaw(Number(port), message);
      await caller.closed();
      const text = caller.received();
      const answers = text.split(/(?=HTTP\/1\.1 \d{3} )/);
      expect(text).not.toContain("200 OK");
      expect(answers.at(-1)).toMatch(/^HTTP\/1\.1 4\d\d [^]*connection: close/i);
      expect(answers.length).toBeLessThanOrEqual(2);
      expect(text).not.toContain("404 Not Found");
    });
  }
});
