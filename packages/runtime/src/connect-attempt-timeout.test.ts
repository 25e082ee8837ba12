import { once } from "node:events";
import {
  type AddressInfo,
  connect,
  createServer,
  getDefaultAutoSelectFamilyAttemptTimeout,
  setDefaultAutoSelectFamilyAttemptTimeout,
} from "node:net";
import { afterEach, expect, test } from "@jest/globals";
import { setConnectAttemptTimeout } from "./connect-attempt-timeout.ts";
import { interceptConnections } from "./testing/intercept-connections.ts";

const distantAddress = { address: "203.0.113.7", family: 4 };
const unreachableAddress = { address: "2001:db8::7", family: 6 };

const defaultTimeoutMs = getDefaultAutoSelectFamilyAttemptTimeout();
let restoreSockets = (): unknown => undefined;
afterEach(() => {
  restoreSockets();
  setDefaultAutoSelectFamilyAttemptTimeout(defaultTimeoutMs);
});

test("a slow connection to the first address succeeds before the next address is tried", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const dials = interceptConnections({ redirectPort: port, connectDelayMs: 600 });
  restoreSockets = dials.restore;
  setConnectAttemptTimeout();
  const socket = connect({
    host: "rpc.example.com",
    port: 443,
    lookup: (_host, _options, callback) => callback(null, [distantAddress, unreachableAddress]),
  });
  await once(socket, "connect");
  expect(dials.dialedAddresses).toEqual([distantAddress.address]);
  socket.destroy();
  server.close();
});
