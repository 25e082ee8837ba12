import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { readCpuShares } from "./profile/cpu-shares.ts";

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "payment-links-profile-"));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

test("readCpuShares returns a process's busy time by package, without idle time", async () => {
  const path = join(directory, "some-service-1.cpuprofile");
  const createNode = (id: number, functionName: string, url: string) => ({
    id,
    callFrame: { functionName, url },
  });
  const nodes = [
    createNode(1, "(idle)", ""),
    createNode(2, "(garbage collector)", ""),
    createNode(3, "send", "file:///app/packages/bus/src/relay.ts"),
    createNode(4, "encode", "file:///app/node_modules/kafkajs/src/encoder.js"),
    createNode(5, "validate", "file:///app/node_modules/@a/b/node_modules/@c/d/index.js"),
    createNode(6, "write", "node:net"),
    createNode(7, "stringify", ""),
  ];
  // A sample lasts until the next one. The last sample has no duration.
  const samples = [1, 2, 3, 4, 4, 5, 6, 7, 1];
  const timeDeltas = [500, 9_000, 1_000, 2_000, 3_000, 1_000, 1_000, 1_000, 1_000];
  await writeFile(path, JSON.stringify({ nodes, samples, timeDeltas }));
  expect(await readCpuShares(path)).toEqual({
    process: "some-service-1",
    busyMs: 10,
    packages: [
      { packageName: "kafkajs", percent: 40 },
      { packageName: "packages/bus", percent: 20 },
      { packageName: "garbage collector", percent: 10 },
      { packageName: "@c/d", percent: 10 },
      { packageName: "node", percent: 10 },
      { packageName: "built-ins", percent: 10 },
    ],
  });
});
