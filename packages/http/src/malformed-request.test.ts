import { once } from "node:events";
import { type AddressInfo, type Socket, createServer } from "node:net";
import { expect, test } from "@jest/globals";
import { sendMalformedRequestError } from "./malformed-request.ts";
import { sendRaw } from "./testing/client.ts";

// A real server would emit these errors only after 30 s, or not at all.
test.each([
  ["ERR_HTTP_REQUEST_TIMEOUT", "HTTP/1.1 408 Request Timeout", "REQUEST_TIMEOUT"],
  [
    "HPE_HEADER_OVERFLOW",
    "HTTP/1.1 431 Request Header Fields Too Large",
    "REQUEST_HEADERS_TOO_LARGE",
  ],
  ["HPE_WHATEVER", "HTTP/1.1 400 Bad Request", "BAD_REQUEST"],
])("Node's %s gets the response %s", async (nodeErrorCode, statusLine, code) => {
  const server = createServer((socket: Socket) => {
    socket.once("data", () => {
      sendMalformedRequestError(
        Object.assign(new Error(nodeErrorCode), { code: nodeErrorCode }),
        socket,
        [],
      );
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const receivedText = await sendRaw((server.address() as AddressInfo).port, "GET");
  expect(receivedText.split("\r\n")[0]).toBe(statusLine);
  expect(receivedText).toContain(`"code":"${code}"`);
  server.close();
});
