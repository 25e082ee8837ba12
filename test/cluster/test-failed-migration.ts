import assert from "node:assert/strict";
import { assertNoDisruption, assertNothingLost, startLoad } from "./load.ts";
import { readPods } from "./pods.ts";
import type { Release } from "./release.ts";

const requestsPerSecond = 20;

/**
 * Asserts that an upgrade with a failing migration fails and that the old pods continue to serve
 * requests.
 */
export const testFailedMigration = async (release: Release): Promise<void> => {
  const { cluster, config } = release;
  assert.ok(config.NEXT_IMAGE_TAG !== "", "NEXT_IMAGE_TAG is required");
  const podsBefore = await readPods(cluster);
  const load = await startLoad(release, requestsPerSecond);
  // Creates a column that the next version's migration also adds. This migration then fails after
  // other migrations have run.
  await release.runSql("ALTER TABLE links_api.links ADD COLUMN next_version text");
  try {
    const upgrade = release.upgrade(["--set", `image.tag=${config.NEXT_IMAGE_TAG}`]);
    await assert.rejects(upgrade, /pre-upgrade hooks? failed/i);
    const job = `job/${release.name}-migrations`;
    const migrationLog = await cluster.kubectl([
      "logs",
      job,
      "--all-containers",
      "--ignore-errors",
    ]);
    assert.match(migrationLog, /links_api\/9001-next-version\.sql failed/);
    assert.deepEqual(await readPods(cluster), podsBefore);
    const report = await load.end();
    assertNothingLost(report);
    assertNoDisruption(report);
  } finally {
    await release.runSql("ALTER TABLE links_api.links DROP COLUMN next_version");
  }
};
