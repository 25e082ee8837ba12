import { STATUS_CODES, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type RefusalCode, refuse } from "@payment-links/contracts";

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
  const isAnswering = answers.some((res) => res.headersSent);
  if (code === "ECONNRESET" || !socket.writable || isAnswering) {
    socket.destroy();
    return;
  }
  const { status, entries } = refuse(refusalCodes[code] ?? "BAD_REQUEST");
  const text = JSON.stringify({ errors: entries });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(text)}`,
    "Connection: close",
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n${text}`);
  socket.destroySoon();
};
