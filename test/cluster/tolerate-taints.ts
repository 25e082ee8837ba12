import { serviceBlocks } from "@payment-links/deploy/chart/service-blocks";
import { waitUntil } from "@payment-links/runtime/testing";
import { passHelmTest } from "./pass-helm-test.ts";
import type { Release } from "./release.ts";

const taint = "payment-links.example/dedicated";
const label = "payment-links.example/pool";
const schedulingMsMax = 60_000;
/** The keys in values.yaml that configure pod placement. */
const blocks = [...Object.keys(serviceBlocks), "migrations", "test"];

/**
 * Asserts that pods with a matching toleration start on a tainted node. Covers the pods of every
 * Deployment, of the migrations Job and of the tests. Also asserts that a pod without the
 * toleration is not scheduled there.
 */
export const tolerateTaints = async (release: Release): Promise<void> => {
  const { cluster } = release;
  const nodeNames = await cluster.kubectl([
    "get",
    "nodes",
    "--output",
    "jsonpath={.items[*].metadata.name}",
  ]);
  const nodes = nodeNames.split(" ");
  await cluster.kubectl(["label", "nodes", ...nodes, `${label}=payments`]);
  await cluster.kubectl(["taint", "nodes", ...nodes, `${taint}=payments:NoSchedule`]);
  try {
    const program = {
      name: "outsider",
      file: "run-sql.mjs",
      image: release.image("links-api"),
      env: {},
    };
    await cluster.startProgram(program);
    const reason = "jsonpath={.status.conditions[*].reason}";
    await waitUntil(
      "a pod without tolerations is not scheduled",
      async () =>
        (await cluster.kubectl(["get", "pod", program.name, "--output", reason])).includes(
          "Unschedulable",
        ),
      schedulingMsMax,
    );
    await cluster.kubectl(["delete", "pod", program.name, "--now"]);

    const toleration = { key: taint, operator: "Equal", value: "payments", effect: "NoSchedule" };
    const placement = { nodeSelector: { [label]: "payments" }, tolerations: [toleration] };
    const placements = Object.fromEntries(blocks.map((block) => [block, placement]));
    await release.upgrade(["--set-json", JSON.stringify(placements)]);
    await passHelmTest(release);
  } finally {
    await cluster.kubectl(["taint", "nodes", ...nodes, `${taint}-`]);
    await cluster.kubectl(["label", "nodes", ...nodes, `${label}-`]);
    await release.upgrade();
  }
};
