import { type IncomingMessage, STATUS_CODES, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type RefusalCode, refuse } from "@payment-links/contracts";
import { usualHeaders } from "./usual-headers.ts";

const refusalCodes: Partial<Record<string, RefusalCode>> = {
  HPE_HEADER_OVERFLOW: "REQUEST_HEADERS_TOO_LARGE",
  ERR_HTTP_REQUEST_TIMEOUT: "REQUEST_TIMEOUT",
};

/**
 * Answers a request that no handler can see (not HTTP, endless headers, too slow) with the error
 * envelope as well, and ends the connection.
 */
export const answerBrokenRequest = (
  error: Error,
  socket: Socket,
  answers: readonly ServerResponse[],
): void => {
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  answerAndEnd(refusalCodes[code] ?? "BAD_REQUEST", socket, answers);
};

/** Answers a request whose body arrives too slowly, and ends the connection. */
export const answerRequestTimeout = (socket: Socket, answers: readonly ServerResponse[]): void =>
  answerAndEnd("REQUEST_TIMEOUT", socket, answers);

const answerAndEnd = (
  code: RefusalCode,
  socket: Socket,
  answers: readonly ServerResponse[],
): void => {
  const isAnswering = answers.some((res) => res.headersSent);
  if (!socket.writable || isAnswering) {
    socket.destroy();
    return;
  }
  const { headers, status, text } = refusedAs(code);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n${text}`);
  socket.destroySoon();
};

/** Whether a request names no host, which HTTP/1.1 asks for (RFC 9112, section 3.2). */
export const isHostless = ({ headers, httpVersion }: IncomingMessage): boolean =>
  httpVersion === "1.1" && headers.host === undefined;

/** Answers it as any broken one; by itself Node would do so without a word. */
export const answerHostless = (res: ServerResponse): void => {
  const { headers, status, text } = refusedAs("BAD_REQUEST");
  res.writeHead(status, headers).end(text);
};

const refusedAs = (code: RefusalCode) => {
  const { status, entries } = refuse(code);
  const text = JSON.stringify({ errors: entries });
  const headers = {
    ...usualHeaders,
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": String(Buffer.byteLength(text)),
    Connection: "close",
  };
  return { headers, status, text };
};
