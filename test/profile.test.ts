import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect, test } from "@jest/globals";
import * as z from "zod";
import { profileLatency } from "./profile/latency.ts";

const Profile = z.object({
  nodes: z.array(z.object({ callFrame: z.object({ url: z.string() }) })),
  samples: z.array(z.int()).min(1),
});

// A short run says nothing of how fast anything is: only that each stage is seen, and each process.
test("the profile of payments knows their stages in order, and what each process computed", async () => {
  const directory = await mkdtemp(join(tmpdir(), "payment-links-profile-"));
  try {
    const profile = await profileLatency({
      perSecond: 5,
      paymentCount: 10,
      replicasPerService: 1,
      directory,
    });
    expect(profile.followedCount).toBe(10);
    expect(profile.stages).toHaveLength(11);
    for (const { sinceP50, sinceP99 } of profile.stages) {
      expect(sinceP50).toBeGreaterThanOrEqual(0);
      expect(sinceP99).toBeGreaterThanOrEqual(sinceP50);
    }
    expect(profile.stages.at(-1)?.sinceP50).toBeGreaterThan(profile.stages[5]?.sinceP50 ?? NaN);
    expect(profile.commitsPerPayment).toBeGreaterThan(1);
    expect(
      profile.files.map((path) => basename(path).replace(/-\d+\.cpuprofile$/, "")).sort(),
    ).toEqual(["auth-keys", "links-api", "settlement-listener", "webhook-dispatcher"]);
    for (const path of profile.files) {
      const { nodes } = Profile.parse(JSON.parse(await readFile(path, "utf8")));
      expect(nodes.some(({ callFrame }) => callFrame.url.includes("/packages/"))).toBe(true);
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}, 300_000);
