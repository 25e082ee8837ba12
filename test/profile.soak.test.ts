import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import * as z from "zod";
import { runToEnd } from "./bench/harness.ts";
import { readCpuShares } from "./profile/cpu-shares.ts";
import { profileLatency } from "./profile/latency.ts";

const Profile = z.object({
  nodes: z.array(z.object({ callFrame: z.object({ url: z.string() }) })),
  samples: z.array(z.int()).min(1),
});

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "payment-links-profile-"));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

// A short run is sufficient to check that each stage and each process is measured. It must be long
// enough to measure an idle process, which rarely uses the CPU.
test("the payment profile contains all stages in order, and what each process computed", async () => {
  const options = { perSecond: 5, paymentCount: 40, replicasPerService: 1, directory };
  const profile = await runToEnd((onEnd) => profileLatency(onEnd, options));
  expect(profile.followedCount).toBe(40);
  expect(profile.stages).toHaveLength(11);
  for (const { sinceP50, sinceP99 } of profile.stages) {
    expect(sinceP50).toBeGreaterThanOrEqual(0);
    expect(sinceP99).toBeGreaterThanOrEqual(sinceP50);
  }
  expect(profile.stages.at(-1)?.sinceP50).toBeGreaterThan(profile.stages[5]?.sinceP50 ?? NaN);
  expect(profile.perPayment.commits).toBeGreaterThan(1);
  expect(
    profile.files.map((path) => basename(path).replace(/-\d+\.cpuprofile$/, "")).sort(),
  ).toEqual(["auth-keys", "links-api", "settlement-listener", "webhook-dispatcher"]);
  for (const path of profile.files) {
    const { nodes } = Profile.parse(JSON.parse(await readFile(path, "utf8")));
    expect(nodes.some(({ callFrame }) => callFrame.url.includes("/packages/"))).toBe(true);
    expect((await readCpuShares(path)).busyMs).toBeGreaterThan(0);
  }
});
