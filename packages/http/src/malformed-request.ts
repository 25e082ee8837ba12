import { type IncomingMessage, STATUS_CODES, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type ApiErrorCode, createApiError } from "@payment-links/contracts";
import { defaultHeaders } from "./default-headers.ts";

const codeByNodeError: Partial<Record<string, ApiErrorCode>> = {
  HPE_HEADER_OVERFLOW: "REQUEST_HEADERS_TOO_LARGE",
  ERR_HTTP_REQUEST_TIMEOUT: "REQUEST_TIMEOUT",
};

/**
 * Sends the error envelope for a request that never reaches a handler, and closes the connection.
 * Such a request is not valid HTTP, has headers that are too large, or arrives too slowly.
 */
export const sendMalformedRequestError = (
  error: Error,
  socket: Socket,
  responses: readonly ServerResponse[],
): void => {
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  sendErrorAndClose(codeByNodeError[code] ?? "BAD_REQUEST", socket, responses);
};

/**
 * Sends an error to a client whose request cannot be completed, and closes the connection. Only
 * closes it if the client would take the error for the response to an earlier request, or if its
 * response has already started.
 */
export const sendErrorAndClose = (
  code: ApiErrorCode,
  socket: Socket,
  responses: readonly ServerResponse[],
): void => {
  const isMistakable = responses.some(({ req, headersSent }) => req.complete || headersSent);
  if (!socket.writable || isMistakable) {
    socket.destroy();
    return;
  }
  const { headers, status, text } = serializeError(code);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n${text}`);
  socket.destroySoon();
};

/** Returns whether an HTTP/1.1 request lacks the required host (RFC 9112, section 3.2). */
export const lacksHostHeader = ({ headers, httpVersion }: IncomingMessage): boolean =>
  httpVersion === "1.1" && headers.host === undefined;

/**
 * Sends the same error as for any malformed request. By default, Node would send an empty response.
 */
export const sendMissingHostError = (res: ServerResponse): void => {
  const { headers, status, text } = serializeError("BAD_REQUEST");
  res.writeHead(status, headers).end(text);
};

const serializeError = (code: ApiErrorCode) => {
  const { status, entries } = createApiError(code);
  const text = JSON.stringify({ errors: entries });
  const headers = {
    ...defaultHeaders,
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": String(Buffer.byteLength(text)),
    Connection: "close",
  };
  return { headers, status, text };
};
