import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { projectRoot } from "../rig/child.ts";
import { createCluster } from "./cluster.ts";
import { runCommand } from "./command.ts";
import { assertNoDisruption, assertNothingLost, startLoad } from "./load.ts";
import { makeFirstPayment } from "./make-first-payment.ts";
import { type Release, chart, installRelease, createNamespace } from "./release.ts";

const requestsPerSecond = 20;
const sectionMsMax = 1_200_000;
const page = join(projectRoot, "packages/docs/content/after-install.md");

/** The guide's sections that run under load, and those that run while the services are stopped. */
const sectionsUnderLoad = ["Upgrade", "Roll back", "Change a secret", "Switch a scaler on"];
const sectionsWhileStopped = ["Stop, and restore a backup", "Move to another cluster"];

/**
 * Runs the unchanged commands of the docs' page *After the install* on a separate release. Asserts
 * that an upgrade, a rollback, a changed secret and a new scaler do not disrupt callers, and that
 * payments work after a restore. A second namespace represents the guide's second cluster.
 */
export const followAfterInstallGuide = async ({ cluster, config }: Release): Promise<void> => {
  const ownCluster = createCluster(`${cluster.namespace}-life`);
  const otherCluster = createCluster(`${cluster.namespace}-moved`);
  const release = await installRelease(ownCluster, config);
  await createNamespace(otherCluster);
  const folder = await mkdtemp(join(tmpdir(), "after-install-"));
  const values = join(folder, "values.json");
  const tag = config.NEXT_IMAGE_TAG === "" ? config.IMAGE_TAG : config.NEXT_IMAGE_TAG;
  const image = { registry: config.IMAGE_REGISTRY, tag };
  await writeFile(values, JSON.stringify({ ...release.values, image }));
  const sections = readSections(await readFile(page, "utf8"));
  const settings = `namespace=${ownCluster.namespace} new_namespace=${otherCluster.namespace} chart=${chart} values=${values}`;
  const runSection = async (title: string, extraSettings = "") => {
    const startedAtMs = performance.now();
    const script = [
      "set -euo pipefail",
      sections.get(""),
      settings,
      extraSettings,
      sections.get(title),
    ];
    assert.ok(sections.get(title), `the page has commands for "${title}"`);
    await runCommand("bash", ["-c", script.join("\n")], { timeoutMs: sectionMsMax });
    const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(0);
    process.stdout.write(`  ${title}, ${seconds} s\n`);
  };
  try {
    const load = await startLoad(release, requestsPerSecond);
    for (const title of sectionsUnderLoad) await runSection(title);
    const report = await load.end();
    assertNothingLost(report);
    assertNoDisruption(report);
    for (const title of sectionsWhileStopped) {
      if (title.startsWith("Move")) await makeFirstPayment(release);
      await runSection(title);
    }
    await runSection("Uninstall", `namespace=${otherCluster.namespace}`);
    await runSection("Uninstall");
  } finally {
    await rm(folder, { recursive: true, force: true });
    for (const { namespace } of [ownCluster, otherCluster]) {
      await cluster.kubectl(["delete", "namespace", namespace], { timeoutMs: 180_000 });
    }
  }
};

/**
 * Returns the commands below each heading as one script. Commands before the first heading have the
 * key "".
 */
const readSections = (text: string): ReadonlyMap<string, string> => {
  const sections = new Map<string, string>();
  for (const part of text.split(/^## /m)) {
    const isFirst = sections.size === 0;
    const [title = ""] = part.split("\n", 1);
    const blocks = [...part.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = ""]) => block);
    sections.set(isFirst ? "" : title, blocks.join("\n"));
  }
  return sections;
};
