import { describe, expect, test } from "@jest/globals";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import {
  body,
  integer,
  parameter,
  positiveDecimal,
  required,
  text,
} from "@payment-links/contracts";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import {
  bodyBytesMax,
  readJsonBody,
  readBodyBytes,
  parsePathParameter,
  parseQuery,
} from "./parse-request.ts";
import { publicRoute } from "./route.ts";
import { type TestResponse, sendRequest, getErrorCodes } from "./testing/client.ts";
import { startApp } from "./testing/start-app.ts";

const Body = body({
  amount: required(positiveDecimal),
  note: required(text({ lengthMax: 100_000 })),
});
const Query = body({ offset: parameter(integer({ min: 0, max: 9 })) });

let receivedCount = 0;

const app = useRig(() =>
  startApp({
    routes: [
      publicRoute({
        method: "post",
        path: "/body",
        handle: async (req, res) => {
          receivedCount += 1;
          const { amount, note } = await readJsonBody(req, Body);
          res.json({ amount: amount.toFixed(), note });
        },
      }),
      publicRoute({
        method: "post",
        path: "/bytes",
        handle: async (req, res) => void res.json({ length: (await readBodyBytes(req)).length }),
      }),
      publicRoute({
        method: "post",
        path: "/unread",
        handle: () => Promise.reject(new Error("no")),
      }),
      publicRoute({
        method: "get",
        path: "/query",
        handle: (req, res) => void res.json(parseQuery(req, Query)),
      }),
      publicRoute({
        method: "get",
        path: "/things/:id",
        handle: (req, res) => void res.json({ id: parsePathParameter(req, "id") }),
      }),
      publicRoute({
        method: "get",
        path: "/links/:id",
        handle: (req, res) =>
          void res.json({ id: parsePathParameter(req, "id", "CANNOT_FIND_PAYMENT_LINK") }),
      }),
    ],
  }),
);

const jsonHeaders = { "content-type": "application/json" };
const sendPost = (
  content: string | Buffer,
  headers: Record<string, string> = jsonHeaders,
): Promise<TestResponse> => sendRequest({ port: app.port, path: "/body", headers, body: content });

describe("a JSON body", () => {
  test.each([
    ["application/json"],
    ["application/json; charset=utf-8"],
    ["Application/JSON"],
    ["application/merge-patch+json"],
  ])("is parsed as %s, with exact amounts", async (type) => {
    const response = await sendPost('{"amount":12345678901234567.123456,"note":"é😀"}', {
      "content-type": type,
    });
    expect(response.text).toBe('{"amount":"12345678901234567.123456","note":"é😀"}');
  });

  test("may start with a byte order mark", async () => {
    expect((await sendPost('\uFEFF{"amount":"1","note":""}')).status).toBe(200);
  });

  test.each([
    ["an empty body", "", jsonHeaders, "missing"],
    ["an empty body of another type", "", { "content-type": "text/plain" }, "missing"],
    ["another type", '{"amount":1}', { "content-type": "text/plain" }, "model_attributes_type"],
    [
      "a form",
      "amount=1",
      { "content-type": "application/x-www-form-urlencoded" },
      "model_attributes_type",
    ],
    ["no type", '{"amount":1}', {}, "model_attributes_type"],
    ["a broken type", '{"amount":1}', { "content-type": "json;;" }, "model_attributes_type"],
    ["null", "null", jsonHeaders, "model_attributes_type"],
    ["a list", "[]", jsonHeaders, "model_attributes_type"],
    ["a number", "1e3", jsonHeaders, "model_attributes_type"],
    ["a string", '"{}"', jsonHeaders, "model_attributes_type"],
    ["a boolean", "true", jsonHeaders, "model_attributes_type"],
    ["whitespace", " \n", jsonHeaders, "json_invalid"],
    ["half an object", '{"amount":', jsonHeaders, "json_invalid"],
    ["two values", "{}{}", jsonHeaders, "json_invalid"],
    ["NaN", '{"amount":NaN}', jsonHeaders, "json_invalid"],
    ["bytes that are not UTF-8", Buffer.from([0x7b, 0xff, 0x7d]), jsonHeaders, "json_invalid"],
    ["half a UTF-8 character", Buffer.from([0x22, 0xe2, 0x82, 0x22]), jsonHeaders, "json_invalid"],
    ["UTF-16", Buffer.from('{"amount":1}', "utf16le"), jsonHeaders, "json_invalid"],
    ["deep objects", '{"amount":'.repeat(6500), jsonHeaders, "json_invalid"],
    ["two wrong fields", '{"note":1,"amount":"x"}', jsonHeaders, "decimal_parsing string_type"],
    [
      "fields named like a prototype",
      '{"__proto__":{"amount":1,"note":""}}',
      jsonHeaders,
      "missing missing",
    ],
  ])("given %s, is rejected (rule API-17)", async (_name, content, headers, codes) => {
    const response = await sendPost(content, headers);
    expect([response.status, getErrorCodes(response)]).toEqual([422, codes]);
  });

  // Anyone can send these, and parsing 32,000 values took 50 ms.
  test.each([
    ["2,000 values", 200, `{"amount":"1","note":"","more":[${Array(1_996).fill(1).join()}]}`],
    ["2,001 values", 413, `{"amount":"1","note":"","more":[${Array(1_997).fill(1).join()}]}`],
    ["32,000 small values", 413, `[${Array(32_000).fill(1).join()}]`],
    ["32,000 nested lists", 413, "[".repeat(32_000) + "]".repeat(32_000)],
  ])("with %s is a %i (rule API-17)", async (_name, status, content) => {
    expect((await sendPost(content)).status).toBe(status);
  });

  test.each([
    ["gzip", gzipSync('{"amount":"1"}'), 415],
    ["br", "x", 415],
    ["gzip, identity", "x", 415],
    ["identity", '{"amount":"1","note":""}', 200],
    ["Identity", '{"amount":"1","note":""}', 200],
  ])("encoded as %s (rule API-17)", async (encoding, content, status) => {
    const response = await sendPost(content, { ...jsonHeaders, "content-encoding": encoding });
    expect(response.status).toBe(status);
    if (status === 415) expect(getErrorCodes(response)).toBe("UNSUPPORTED_CONTENT_ENCODING");
  });
});

describe("the limit of 64 KiB", () => {
  const createBodyOfSize = (bytes: number): string => {
    const emptyNoteBody = '{"amount":"1","note":""}';
    return emptyNoteBody.replace('""', `"${"x".repeat(bytes - emptyNoteBody.length)}"`);
  };

  test.each([
    [bodyBytesMax, 200],
    [bodyBytesMax + 1, 413],
  ])("%i bytes: %i, with a declared length and in chunks (rule API-17)", async (bytes, status) => {
    const withContentLength = await sendPost(createBodyOfSize(bytes));
    const withChunks = await sendPost(createBodyOfSize(bytes), {
      ...jsonHeaders,
      "transfer-encoding": "chunked",
    });
    expect([withContentLength.status, withChunks.status]).toEqual([status, status]);
    if (status !== 413) return;
    expect([getErrorCodes(withContentLength), getErrorCodes(withChunks)]).toEqual([
      "PAYLOAD_TOO_LARGE",
      "PAYLOAD_TOO_LARGE",
    ]);
  });

  test.each([
    ["declared", { "content-length": String(40 * 1024 * 1024) }],
    ["in chunks", { "transfer-encoding": "chunked" }],
  ])(
    "40 MB %s: the client gets the error while it still sends, and the connection ends",
    async (_name, framingHeaders) => {
      const clientRequest = request({
        port: app.port,
        path: "/body",
        method: "POST",
        headers: { ...jsonHeaders, ...framingHeaders },
      });
      clientRequest.on("error", () => {});
      Readable.from(repeat(Buffer.alloc(64 * 1024, "x"), 640)).pipe(clientRequest);
      const [res] = (await once(clientRequest, "response")) as [IncomingMessage];
      let receivedText = "";
      for await (const chunk of res) receivedText += String(chunk);
      expect([res.statusCode, res.headers.connection]).toEqual([413, "close"]);
      expect(receivedText).toContain('"code":"PAYLOAD_TOO_LARGE"');
      clientRequest.destroy();
    },
  );

  test.each(["/body", "/bytes", "/unread", "/nowhere", "/query"])(
    "a client that sends 40 MB to %s before it reads gets its response",
    async (path) => {
      const response = await fetch(`http://127.0.0.1:${app.port}${path}`, {
        method: "POST",
        headers: jsonHeaders,
        body: Buffer.alloc(40 * 1024 * 1024, "x"),
      });
      const expected = { "/unread": 500, "/nowhere": 404, "/query": 405 }[path] ?? 413;
      expect(response.status).toBe(expected);
      expect(await response.text()).toContain('{"errors":[');
    },
  );

  test("one more byte, declared, is rejected before it arrives and read past for at most two seconds", async () => {
    const socket = connect(app.port, "127.0.0.1");
    const length = bodyBytesMax + 1;
    socket.write(`POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`);
    const [requestHead] = (await once(socket, "data")) as [Buffer];
    expect(requestHead.toString()).toContain("413 Payload Too Large");
    await waitUntil("the connection ends", () => socket.closed);
  });

  test("a client that reads nothing until it has sent its 8 MB gets its response", async () => {
    const socket = connect(app.port, "127.0.0.1");
    socket.pause();
    const length = 8 * 1024 * 1024;
    socket.write(`POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`);
    for (const bodyPart of repeat("x".repeat(64 * 1024), 128)) {
      if (!socket.write(bodyPart)) await once(socket, "drain");
    }
    let receivedText = "";
    for await (const chunk of socket) receivedText += String(chunk);
    expect(receivedText).toContain("413 Payload Too Large");
    expect(receivedText).toContain("PAYLOAD_TOO_LARGE");
  });

  test("an endless stream gets the error, is read past for a while, and is cut off", async () => {
    const socket = connect(app.port, "127.0.0.1");
    socket.on("error", () => {});
    let receivedText = "";
    socket.on("data", (chunk: Buffer) => {
      receivedText += chunk.toString();
    });
    const requestHead = `POST /body HTTP/1.1\r\nHost: a\r\nContent-Type: ${jsonHeaders["content-type"]}\r\n`;
    socket.write(`${requestHead}Transfer-Encoding: chunked\r\n\r\n`);
    const bodyPart = `10000\r\n${"x".repeat(0x10000)}\r\n`;
    Readable.from(repeat(bodyPart, 3200)).pipe(socket);
    await new Promise((resolve) => void socket.once("close", resolve));
    expect(receivedText).toContain("413 Payload Too Large");
    expect(socket.bytesWritten).toBeLessThan(100 * 1024 * 1024);
  });
});

describe("a small unread body of a rejected request", () => {
  test.each([4, bodyBytesMax])(
    "of %i bytes loses neither the response nor the connection",
    async (length) => {
      const socket = connect(app.port, "127.0.0.1");
      const responses: string[] = [];
      socket.on("data", (chunk: Buffer) => responses.push(chunk.toString()));
      for (let clientRequest = 1; clientRequest <= 3; clientRequest += 1) {
        socket.write(`POST /nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`);
        await waitUntil("the response arrives", () => responses.length === clientRequest);
        expect(responses[clientRequest - 1]).toMatch(
          /^HTTP\/1\.1 404 (.|\r\n)*Connection: keep-alive/,
        );
        socket.write("x".repeat(length));
      }
      socket.destroy();
    },
  );

  test("that was read completely in chunks does not close the connection either", async () => {
    const socket = connect(app.port, "127.0.0.1");
    const requestHead = `POST /body HTTP/1.1\r\nHost: a\r\nContent-Type: ${jsonHeaders["content-type"]}\r\n`;
    socket.write(`${requestHead}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n0\r\n\r\n`);
    const [response] = (await once(socket, "data")) as [Buffer];
    expect(response.toString()).toMatch(/^HTTP\/1\.1 422 (.|\r\n)*Connection: keep-alive/);
    socket.destroy();
  });
});

describe("an aborted upload", () => {
  test("is not an error of ours: nothing is sent, and nothing is logged as an error", async () => {
    app.logLines.length = 0;
    const receivedBefore = receivedCount;
    const socket = connect(app.port, "127.0.0.1");
    const requestHead = `POST /body HTTP/1.1\r\nHost: a\r\nContent-Type: ${jsonHeaders["content-type"]}\r\n`;
    socket.write(`${requestHead}Content-Length: 100\r\n\r\n{`);
    await waitUntil("more of the body has arrived", () => receivedCount > receivedBefore);
    socket.destroy();
    await waitUntil("a log line is written", () => app.logLines.length > 0);
    expect(app.logLines.join("")).toContain("client disconnected");
    expect(app.logLines.join("")).not.toContain('"level":"error"');
    const text = await app.metrics.metrics();
    expect(text).toMatch(/_count\{.*http_route="\/body",http_response_status_code="499"/);
    expect(text).not.toMatch(/http_route="\/body",http_response_status_code="5/);
  });
});

describe("a query", () => {
  test("ignores all parameters after the 50th, because decoding thousands is slow", async () => {
    const send = (ignoredCount: number) => {
      const path = `/query?${"x=1&".repeat(ignoredCount)}offset=7`;
      return sendRequest({ port: app.port, path });
    };
    expect(JSON.parse((await send(49)).text)).toEqual({ offset: 7 });
    expect(JSON.parse((await send(50)).text)).not.toEqual({ offset: 7 });
  });

  test.each([
    ["", 200],
    ["?offset=9&unknown=1&__proto__=x", 200],
    ["?offset=%ff%", 422],
    ["?offset=", 422],
    ["?offset=1&offset=2", 422],
    ["?offset[]=1", 200],
  ])("%s: %i", async (query, status) => {
    expect((await sendRequest({ port: app.port, path: `/query${query}` })).status).toBe(status);
  });
});

describe("a path parameter", () => {
  test.each([
    ["/things/plink_1", 200, "plink_1"],
    ["/things/a%2Fb", 200, "a/b"],
    ["/things/%F0%9F%98%80", 200, "😀"],
    ["/things/a%00b", 404, "NOT_FOUND"],
    ["/links/a%00b", 404, "CANNOT_FIND_PAYMENT_LINK"],
    ["/things/%", 404, "NOT_FOUND"],
    ["/things/%ff", 404, "NOT_FOUND"],
    ["/things/%ED%A0%80", 404, "NOT_FOUND"],
  ])("%s: %i", async (path, status, expectedResult) => {
    const response = await sendRequest({ port: app.port, path });
    expect(response.status).toBe(status);
    expect(status === 200 ? JSON.parse(response.text) : getErrorCodes(response)).toEqual(
      status === 200 ? { id: expectedResult } : expectedResult,
    );
  });
});

/** Yields the same value several times. */
function* repeat<BodyPart>(bodyPart: BodyPart, times: number): Generator<BodyPart> {
  for (let remaining = times; remaining > 0; remaining -= 1) yield bodyPart;
}

describe("a body of another type than JSON", () => {
  test.each(["Content-Length: 100", "Transfer-Encoding: chunked"])(
    "is rejected before it arrives: %s (rule API-17)",
    async (framingHeader) => {
      const socket = connect(app.port, "127.0.0.1");
      socket.write(
        `POST /body HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\n${framingHeader}\r\n\r\n`,
      );
      const [response] = (await once(socket, "data")) as [Buffer];
      expect(response.toString()).toMatch(/^HTTP\/1\.1 422 .*model_attributes_type/s);
      socket.destroy();
    },
  );
});
