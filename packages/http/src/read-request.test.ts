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
import { bodyBytesMax, readBody, readBytes, readParam, readQuery } from "./read-request.ts";
import { publicRoute } from "./route.ts";
import { type Answer, call, codesOf } from "./testing/client.ts";
import { startApp } from "./testing/start-app.ts";

const Body = body({
  amount: required(positiveDecimal),
  note: required(text({ lengthMax: 100_000 })),
});
const Query = body({ offset: parameter(integer({ min: 0, max: 9 })) });

let received = 0;

const app = useRig(() =>
  startApp({
    routes: [
      publicRoute({
        method: "post",
        path: "/body",
        handle: async (req, res) => {
          received += 1;
          const { amount, note } = await readBody(req, Body);
          res.json({ amount: amount.toFixed(), note });
        },
      }),
      publicRoute({
        method: "post",
        path: "/bytes",
        handle: async (req, res) => void res.json({ length: (await readBytes(req)).length }),
      }),
      publicRoute({
        method: "post",
        path: "/unread",
        handle: () => Promise.reject(new Error("no")),
      }),
      publicRoute({
        method: "get",
        path: "/query",
        handle: (req, res) => void res.json(readQuery(req, Query)),
      }),
      publicRoute({
        method: "get",
        path: "/things/:id",
        handle: (req, res) => void res.json({ id: readParam(req, "id") }),
      }),
      publicRoute({
        method: "get",
        path: "/links/:id",
        handle: (req, res) =>
          void res.json({ id: readParam(req, "id", "CANNOT_FIND_PAYMENT_LINK") }),
      }),
    ],
  }),
);

const json = { "content-type": "application/json" };
const post = (content: string | Buffer, headers: Record<string, string> = json): Promise<Answer> =>
  call({ port: app.port, path: "/body", headers, body: content });

describe("a JSON body", () => {
  test.each([
    ["application/json"],
    ["application/json; charset=utf-8"],
    ["Application/JSON"],
    ["application/merge-patch+json"],
  ])("is read as %s, amounts exactly", async (type) => {
    const answer = await post('{"amount":12345678901234567.123456,"note":"é😀"}', {
      "content-type": type,
    });
    expect(answer.text).toBe('{"amount":"12345678901234567.123456","note":"é😀"}');
  });

  test("may begin with a byte order mark", async () => {
    expect((await post('\uFEFF{"amount":"1","note":""}')).status).toBe(200);
  });

  test.each([
    ["nothing", "", json, "missing"],
    ["nothing of another type", "", { "content-type": "text/plain" }, "missing"],
    ["another type", '{"amount":1}', { "content-type": "text/plain" }, "model_attributes_type"],
    [
      "a form",
      "amount=1",
      { "content-type": "application/x-www-form-urlencoded" },
      "model_attributes_type",
    ],
    ["no type", '{"amount":1}', {}, "model_attributes_type"],
    ["a broken type", '{"amount":1}', { "content-type": "json;;" }, "model_attributes_type"],
    ["null", "null", json, "model_attributes_type"],
    ["a list", "[]", json, "model_attributes_type"],
    ["a number", "1e3", json, "model_attributes_type"],
    ["a string", '"{}"', json, "model_attributes_type"],
    ["a boolean", "true", json, "model_attributes_type"],
    ["blanks", " \n", json, "json_invalid"],
    ["half an object", '{"amount":', json, "json_invalid"],
    ["two values", "{}{}", json, "json_invalid"],
    ["NaN", '{"amount":NaN}', json, "json_invalid"],
    ["bytes that are no UTF-8", Buffer.from([0x7b, 0xff, 0x7d]), json, "json_invalid"],
    ["half a UTF-8 character", Buffer.from([0x22, 0xe2, 0x82, 0x22]), json, "json_invalid"],
    ["UTF-16", Buffer.from('{"amount":1}', "utf16le"), json, "json_invalid"],
    ["deep lists", "[".repeat(32_000) + "]".repeat(32_000), json, "json_invalid"],
    ["deep objects", '{"amount":'.repeat(6500), json, "json_invalid"],
    ["two wrong fields", '{"note":1,"amount":"x"}', json, "decimal_parsing string_type"],
    ["fields of a prototype", '{"__proto__":{"amount":1,"note":""}}', json, "missing missing"],
  ])("given %s, is refused (rule API-17)", async (_name, content, headers, codes) => {
    const answer = await post(content, headers);
    expect([answer.status, codesOf(answer)]).toEqual([422, codes]);
  });

  test.each([
    ["gzip", gzipSync('{"amount":"1"}'), 415],
    ["br", "x", 415],
    ["gzip, identity", "x", 415],
    ["identity", '{"amount":"1","note":""}', 200],
    ["Identity", '{"amount":"1","note":""}', 200],
  ])("encoded as %s (rule API-17)", async (encoding, content, status) => {
    const answer = await post(content, { ...json, "content-encoding": encoding });
    expect(answer.status).toBe(status);
    if (status === 415) expect(codesOf(answer)).toBe("UNSUPPORTED_CONTENT_ENCODING");
  });
});

describe("the limit of 64 KiB", () => {
  const exact = (bytes: number): string => {
    const empty = '{"amount":"1","note":""}';
    return empty.replace('""', `"${"x".repeat(bytes - empty.length)}"`);
  };

  test.each([
    [bodyBytesMax, 200],
    [bodyBytesMax + 1, 413],
  ])(
    "%i bytes: %i, by their announced length and in chunks alike (rule API-17)",
    async (bytes, status) => {
      const announced = await post(exact(bytes));
      const chunked = await post(exact(bytes), { ...json, "transfer-encoding": "chunked" });
      expect([announced.status, chunked.status]).toEqual([status, status]);
      if (status !== 413) return;
      expect([codesOf(announced), codesOf(chunked)]).toEqual([
        "PAYLOAD_TOO_LARGE",
        "PAYLOAD_TOO_LARGE",
      ]);
    },
  );

  test.each([
    ["announced", { "content-length": String(40 * 1024 * 1024) }],
    ["in chunks", { "transfer-encoding": "chunked" }],
  ])(
    "40 MB %s: the client is told while it still sends, and the connection ends",
    async (_name, how) => {
      const sent = request({
        port: app.port,
        path: "/body",
        method: "POST",
        headers: { ...json, ...how },
      });
      sent.on("error", () => {});
      Readable.from(repeat(Buffer.alloc(64 * 1024, "x"), 640)).pipe(sent);
      const [res] = (await once(sent, "response")) as [IncomingMessage];
      let read = "";
      for await (const chunk of res) read += String(chunk);
      expect([res.statusCode, res.headers.connection]).toEqual([413, "close"]);
      expect(read).toContain('"code":"PAYLOAD_TOO_LARGE"');
      sent.destroy();
    },
  );

  test.each(["/body", "/bytes", "/unread", "/nowhere", "/query"])(
    "a client that sends 40 MB to %s before it reads gets its answer",
    async (path) => {
      const answer = await fetch(`http://127.0.0.1:${app.port}${path}`, {
        method: "POST",
        headers: json,
        body: Buffer.alloc(40 * 1024 * 1024, "x"),
      });
      const expected = { "/unread": 500, "/nowhere": 404, "/query": 405 }[path] ?? 413;
      expect(answer.status).toBe(expected);
      expect(await answer.text()).toContain('{"errors":[');
    },
  );

  test("one byte more, announced, is refused before any of it comes, and waited for two seconds", async () => {
    const socket = connect(app.port, "127.0.0.1");
    const length = bodyBytesMax + 1;
    socket.write(`POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`);
    const [head] = (await once(socket, "data")) as [Buffer];
    expect(head.toString()).toContain("413 Payload Too Large");
    await waitUntil("the connection ends", () => socket.closed);
  });

  test("a client that reads nothing before it has sent its 8 MB gets its answer", async () => {
    const socket = connect(app.port, "127.0.0.1");
    socket.pause();
    const length = 8 * 1024 * 1024;
    socket.write(`POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`);
    for (const piece of repeat("x".repeat(64 * 1024), 128)) {
      if (!socket.write(piece)) await once(socket, "drain");
    }
    let read = "";
    for await (const chunk of socket) read += String(chunk);
    expect(read).toContain("413 Payload Too Large");
    expect(read).toContain("PAYLOAD_TOO_LARGE");
  });

  test("a stream without end is told so, read past for a while, and cut off", async () => {
    const socket = connect(app.port, "127.0.0.1");
    socket.on("error", () => {});
    let read = "";
    socket.on("data", (chunk: Buffer) => {
      read += chunk.toString();
    });
    const head = `POST /body HTTP/1.1\r\nHost: a\r\nContent-Type: ${json["content-type"]}\r\n`;
    socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n`);
    const piece = `10000\r\n${"x".repeat(0x10000)}\r\n`;
    Readable.from(repeat(piece, 3200)).pipe(socket);
    await new Promise((resolve) => void socket.once("close", resolve));
    expect(read).toContain("413 Payload Too Large");
    expect(socket.bytesWritten).toBeLessThan(100 * 1024 * 1024);
  });
});

describe("a small body that a refused request leaves unread", () => {
  test.each([4, bodyBytesMax])(
    "of %i bytes costs neither the answer nor the connection",
    async (length) => {
      const socket = connect(app.port, "127.0.0.1");
      const answers: string[] = [];
      socket.on("data", (chunk: Buffer) => answers.push(chunk.toString()));
      for (let sent = 1; sent <= 3; sent += 1) {
        socket.write(`POST /nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`);
        await waitUntil("the answer", () => answers.length === sent);
        expect(answers[sent - 1]).toMatch(/^HTTP\/1\.1 404 (.|\r\n)*Connection: keep-alive/);
        socket.write("x".repeat(length));
      }
      socket.destroy();
    },
  );

  test("nor does one that was read whole, in chunks, and is refused", async () => {
    const socket = connect(app.port, "127.0.0.1");
    const head = `POST /body HTTP/1.1\r\nHost: a\r\nContent-Type: ${json["content-type"]}\r\n`;
    socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n0\r\n\r\n`);
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 422 (.|\r\n)*Connection: keep-alive/);
    socket.destroy();
  });
});

describe("an upload that breaks off", () => {
  test("is no failure of ours: nothing is answered, and nothing is logged as an error", async () => {
    app.logged.length = 0;
    const before = received;
    const socket = connect(app.port, "127.0.0.1");
    const head = `POST /body HTTP/1.1\r\nHost: a\r\nContent-Type: ${json["content-type"]}\r\n`;
    socket.write(`${head}Content-Length: 100\r\n\r\n{`);
    await waitUntil("more of it has come", () => received > before);
    socket.destroy();
    await waitUntil("a line in the log", () => app.logged.length > 0);
    expect(app.logged.join("")).toContain("a client went away");
    expect(app.logged.join("")).not.toContain('"level":"error"');
    const text = await app.metrics.metrics();
    expect(text).toMatch(/_count\{.*http_route="\/body",http_response_status_code="499"/);
    expect(text).not.toMatch(/http_route="\/body",http_response_status_code="5/);
  });
});

describe("a query", () => {
  test.each([
    ["", 200],
    ["?offset=9&unknown=1&__proto__=x", 200],
    ["?offset=%ff%", 422],
    ["?offset=", 422],
    ["?offset=1&offset=2", 422],
    ["?offset[]=1", 200],
  ])("%s: %i", async (query, status) => {
    expect((await call({ port: app.port, path: `/query${query}` })).status).toBe(status);
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
  ])("%s: %i", async (path, status, told) => {
    const answer = await call({ port: app.port, path });
    expect(answer.status).toBe(status);
    expect(status === 200 ? JSON.parse(answer.text) : codesOf(answer)).toEqual(
      status === 200 ? { id: told } : told,
    );
  });
});

/** Yields one piece again and again. */
function* repeat<Piece>(piece: Piece, times: number): Generator<Piece> {
  for (let left = times; left > 0; left -= 1) yield piece;
}

describe("a body of another type than JSON", () => {
  test.each(["Content-Length: 100", "Transfer-Encoding: chunked"])(
    "is rejected before it arrives: %s (rule API-17)",
    async (sizing) => {
      const socket = connect(app.port, "127.0.0.1");
      socket.write(
        `POST /body HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\n${sizing}\r\n\r\n`,
      );
      const [answer] = (await once(socket, "data")) as [Buffer];
      expect(answer.toString()).toMatch(/^HTTP\/1\.1 422 .*model_attributes_type/s);
      socket.destroy();
    },
  );
});
