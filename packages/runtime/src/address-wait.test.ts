import { once } from "node:events";
import {
  type AddressInfo,
  connect,
  createServer,
  getDefaultAutoSelectFamilyAttemptTimeout,
  setDefaultAutoSelectFamilyAttemptTimeout,
} from "node:net";
import { afterEach, expect, test } from "@jest/globals";
import { waitForEachAddress } from "./address-wait.ts";
import { countDials } from "./testing/count-dials.ts";

const far = { address: "203.0.113.7", family: 4 };
const leadingNowhere = { address: "2001:db8::7", family: 6 };

const nodesOwnMs = getDefaultAutoSelectFamilyAttemptTimeout();
let restore = (): unknown => undefined;
afterEach(() => {
  restore();
  setDefaultAutoSelectFamilyAttemptTimeout(nodesOwnMs);
});

test("a host far away is waited for at its first address, before the next is tried", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const dials = countDials({ answeredAtPort: port, answerAfterMs: 600 });
  restore = dials.restore;
  waitForEachAddress();
  const socket = connect({
    host: "rpc.example.com",
    port: 443,
    lookup: (_host, _options, answer) => answer(null, [far, leadingNowhere]),
  });
  await once(socket, "connect");
  expect(dials.dialled).toEqual([far.address]);
  socket.destroy();
  server.close();
});
