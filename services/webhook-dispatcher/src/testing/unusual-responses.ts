import type { Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { TLSSocket } from "node:tls";
import type { RawResponse } from "./start-raw-server.ts";

const joinLines = (...lines: string[]): string => lines.join("\r\n");
const chunkedBody = (...lines: string[]): string =>
  joinLines("Transfer-Encoding: chunked", "", ...lines);
const headersAndOkBody = (...headers: string[]): string => joinLines(...headers, "", "ok");
const continueResponse = joinLines("HTTP/1.1 100 Continue", "", "");
const emptyBodyHeaders = joinLines("Content-Length: 0", "", "");
const tlsAlert = "\x15\x03\x03\x00\x02\x02\x28";

/**
 * The parts of complete responses after the status line. Each key names the HTTP rule that the
 * response violates.
 */
const afterStatusLine: Readonly<Record<string, string>> = {
  "two equal Content-Length": headersAndOkBody("Content-Length: 2", "Content-Length: 2"),
  "two different Content-Length": headersAndOkBody("Content-Length: 2", "Content-Length: 7"),
  "a list of Content-Length": headersAndOkBody("Content-Length: 2, 2"),
  "Content-Length before Transfer-Encoding": joinLines(
    "Content-Length: 5",
    chunkedBody("2", "ok", "0", "", ""),
  ),
  "Content-Length after Transfer-Encoding": joinLines(
    "Transfer-Encoding: chunked",
    "Content-Length: 5",
    "",
    "0",
    "",
    "",
  ),
  "an empty Content-Length": headersAndOkBody("Content-Length:"),
  "a blank Content-Length": headersAndOkBody("Content-Length:  "),
  "a signed Content-Length": headersAndOkBody("Content-Length: +2"),
  "a negative Content-Length": headersAndOkBody("Content-Length: -1"),
  "a hexadecimal Content-Length": headersAndOkBody("Content-Length: 0x2"),
  "a Content-Length beyond 64 bits": headersAndOkBody(`Content-Length: ${"9".repeat(30)}`),
  "a Content-Length that the body exceeds": headersAndOkBody("Content-Length: 1"),
  "a space before the colon": headersAndOkBody("Content-Length : 2"),
  "a folded header": headersAndOkBody("X-Note: one", " two", "Content-Length: 2"),
  "a header that begins with a space": headersAndOkBody(" X-Note: one", "Content-Length: 2"),
  "a header without a colon": headersAndOkBody("X-Note", "Content-Length: 2"),
  "a header without a name": headersAndOkBody(": one", "Content-Length: 2"),
  "a space in a header's name": headersAndOkBody("X Note: one", "Content-Length: 2"),
  "a quote in a header's name": headersAndOkBody('"X-Note": one', "Content-Length: 2"),
  "a NUL in a header": headersAndOkBody("X-Note: a\0b", "Content-Length: 2"),
  "a bare CR in a header": headersAndOkBody("X-Note: a\rb", "Content-Length: 2"),
  "a bare LF after a header": "X-Note: a\nContent-Length: 2\r\n\r\nok",
  "an empty line that is a bare LF": "Content-Length: 2\r\n\nok",
  "headers over 16 KiB": headersAndOkBody(`X-Note: ${"a".repeat(17 * 1024)}`, "Content-Length: 2"),
  "3,000 headers": headersAndOkBody(...Array<string>(3_000).fill("X-Note: a"), "Content-Length: 2"),
  "a chunk without a length": chunkedBody("", "ok", "0", "", ""),
  "a chunk length that is not a number": chunkedBody("zz", "ok", "0", "", ""),
  "a negative chunk length": chunkedBody("-2", "ok", "0", "", ""),
  "a chunk length beyond 64 bits": chunkedBody("f".repeat(17), "ok", "0", "", ""),
  "a chunk that is longer than its length": chunkedBody("1", "ok", "0", "", ""),
  "a chunk after a bare LF": joinLines("Transfer-Encoding: chunked", "", "2\nok", "0", "", ""),
  "a malformed trailer": chunkedBody("0", "X Note", "", ""),
  "binary garbage": "\0\x01\x02\xff\xfe\r\n\r\n\x80",
  "a TLS alert": tlsAlert,
  "a page without headers": "<!doctype html>\r\n<p>Thank you</p>",
  "another status line": joinLines("HTTP/1.1 500 No", "Content-Length: 0", "", ""),
  "a second response": joinLines(
    "Content-Length: 0",
    "",
    "HTTP/1.1 500 No",
    "Content-Length: 0",
    "",
    "",
  ),
};

/** Forms that a strict parser rejects, but whose end is at the same byte for every parser. */
const tolerableForms: Readonly<Record<string, (status: string) => string[]>> = {
  "a NUL in the reason": (status) => [`HTTP/1.1 ${status}\0\r\n${emptyBodyHeaders}`],
  "chunked twice": (status) => [
    joinLines(`HTTP/1.1 ${status}`, "Transfer-Encoding: chunked, chunked", "", "0", "", ""),
  ],
  "a 103 with headers over 16 KiB": (status) => [
    joinLines("HTTP/1.1 103 Early Hints", `Link: ${"a".repeat(17 * 1024)}`, "", ""),
    `HTTP/1.1 ${status}\r\n${emptyBodyHeaders}`,
  ],
};

/** The parts after the status line of responses that end only when the connection ends. */
const truncatedAfterStatusLine: Readonly<Record<string, string>> = {
  "an unknown Transfer-Encoding": headersAndOkBody("Transfer-Encoding: x"),
  "chunked before another coding": joinLines("Transfer-Encoding: chunked, gzip", "", "0", "", ""),
  "a Content-Length that the body does not reach": headersAndOkBody("Content-Length: 99"),
  "a truncated chunk": chunkedBody("9", "ok"),
  "no last chunk": chunkedBody("2", "ok", ""),
  nothing: "",
  "half a header": "Content-",
  "no empty line": "Content-Length: 0\r\n",
  "a protocol switch": joinLines("Connection: upgrade", "Upgrade: h2c", "", "PRI * HTTP/2.0"),
};

/**
 * The pieces of a response with the given status, such as `200 OK`. Each key names what is unusual
 * about it.
 */
const unusualForms: Readonly<Record<string, (status: string) => string[]>> = {
  "a bare LF after the status line": (status) => [`HTTP/1.1 ${status}\n${emptyBodyHeaders}`],
  "bare LFs throughout": (status) => [`HTTP/1.1 ${status}\nContent-Length: 2\n\nok`],
  "a bare CR after the status line": (status) => [`HTTP/1.1 ${status}\r${emptyBodyHeaders}`],
  "no reason": (status) => [`HTTP/1.1 ${status.slice(0, 3)}\r\nContent-Length:\r\n\r\n`],
  "a reason over 16 KiB": (status) => [
    `HTTP/1.1 ${status}${"a".repeat(17 * 1024)}\r\nContent-Length:\r\n\r\n`,
  ],
  "an unknown minor version": (status) => [`HTTP/1.7 ${status}\r\n${emptyBodyHeaders}`],
  "an empty line before a malformed header": (status) => [
    `\r\nHTTP/1.1 ${status}\r\nContent-Length:\r\n\r\n`,
  ],
  "a status line in pieces": (status) => ["HTT", "P/1.1 ", status, "\r\nContent-Length:\r\n\r\n"],
  "a 100 in pieces": (status) => [
    "HTTP/1.1 10",
    "0",
    " Continue\r",
    "\n\r\n",
    `HTTP/1.1 ${status}\r\n${emptyBodyHeaders}`,
  ],
  "a 100 in one piece and a malformed header": (status) => [
    `${continueResponse}HTTP/1.1 ${status}\r\nContent-Length:\r\n\r\n`,
  ],
  "a 100 with bare LFs": (status) => [
    "HTTP/1.1 100\n\n",
    `HTTP/1.1 ${status}\r\n${emptyBodyHeaders}`,
  ],
  "a 102 with a folded header": (status) => [
    joinLines("HTTP/1.1 102 Processing", "X-Note: one", " two", "", ""),
    `HTTP/1.1 ${status}\r\n${emptyBodyHeaders}`,
  ],
  "a 103 with two Content-Length": (status) => [
    joinLines("HTTP/1.1 103 Early Hints", "Content-Length: 0", "Content-Length: 0", "", ""),
    `HTTP/1.1 ${status}\r\n${emptyBodyHeaders}`,
  ],
  "an undefined 199": (status) => [
    joinLines("HTTP/1.1 199 Hello", "X Note", "", ""),
    `HTTP/1.1 ${status}\r\n${emptyBodyHeaders}`,
  ],
};

/** Writes each piece after the client had a chance to read the previous one. */
const writePieces = async (socket: Socket, pieces: readonly string[]): Promise<void> => {
  for (const piece of pieces) {
    await new Promise((resolve) => socket.write(piece, "latin1", resolve));
    await setImmediate();
    await setImmediate();
  }
};

type Responses = Readonly<Record<string, RawResponse>>;

/**
 * Responses with the given status, such as `200 OK`, that violate HTTP before or after the status
 * line. The connection stays open.
 */
export const malformedResponses = (status: string): Responses => ({
  ...mapValues(afterStatusLine, (remainder) => (socket) => {
    socket.write(`HTTP/1.1 ${status}\r\n${remainder}`, "latin1");
  }),
  ...mapValues(unusualForms, (toPieces) => (socket) => writePieces(socket, toPieces(status))),
});

/**
 * Responses with the given status whose end is at the same byte for every parser. The connection
 * stays open.
 */
export const tolerableResponses = (status: string): Responses =>
  mapValues(tolerableForms, (toPieces) => (socket) => writePieces(socket, toPieces(status)));

/** Responses with the given status that end only when their connection ends. */
export const truncatedResponses = (status: string): Responses => ({
  ...mapValues(truncatedAfterStatusLine, (remainder) => (socket) => {
    socket.end(`HTTP/1.1 ${status}\r\n${remainder}`, "latin1");
  }),
  "half a status line": (socket) => void socket.end(`HTTP/1.1 ${status}`),
  "a reset": async (socket) => {
    await writePieces(socket, [`HTTP/1.1 ${status}\r\n`]);
    if (socket instanceof TLSSocket) socket.destroy();
    else socket.resetAndDestroy();
  },
});

const mapValues = <Value>(
  values: Readonly<Record<string, Value>>,
  map: (value: Value) => RawResponse,
): Responses =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]));
