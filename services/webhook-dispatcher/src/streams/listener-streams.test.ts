import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { Duplex } from "node:stream";
import { expect, test } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createRig } from "../testing/create-rig.ts";
import { createListenerStreams } from "./listener-streams.ts";

const rig = useRig(createRig);

/** Creates a response whose client never reads. */
const createStuckResponse = () => {
  const res = new ServerResponse(new IncomingMessage(new Socket()));
  const connection = new Duplex({ read: () => {}, write: () => {} });
  res.assignSocket(connection as Socket);
  return { res, connection };
};

test("an ended stream that is not read is closed 10 s after its end, not after its lifetime", async () => {
  const streams = createListenerStreams({ ...rig.context, headerPrefix: "Acme" });
  streams.start();
  const { res, connection } = createStuckResponse();
  streams.addStream({ id: "whl_stuck", secret: "", acknowledgedNumber: 0 }, res);
  streams.drain();
  rig.clock.advance(9_000);
  streams.wake();
  expect(connection.destroyed).toBe(false);
  rig.clock.advance(1_000);
  await waitUntil("the connection is closed", () => connection.destroyed);
  await streams.stop();
});
