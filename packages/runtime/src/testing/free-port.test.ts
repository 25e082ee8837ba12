import { createSocket } from "node:dgram";
import { once } from "node:events";
import { expect, test } from "@jest/globals";
import { findFreePorts } from "./free-port.ts";

test("findFreePorts does not soon return the same port again, even if it is still closed", async () => {
  const ports: number[] = [];
  for (let round = 0; round < 200; round += 1) ports.push(...(await findFreePorts(2)));
  expect(new Set(ports).size).toBe(ports.length);
});

test("findFreePorts does not return a port that another process has claimed", async () => {
  const [port = 0] = await findFreePorts(1);
  // Claims the next ports, as another process would.
  const claimedPorts = [port + 1, port + 2];
  const sockets = claimedPorts.map(() => createSocket("udp4"));
  for (const [index, socket] of sockets.entries()) {
    socket.bind({ port: claimedPorts[index] ?? 0, address: "127.0.0.1" });
    await once(socket, "listening");
  }
  expect(claimedPorts).not.toContain((await findFreePorts(1))[0]);
  for (const socket of sockets) socket.close();
});
