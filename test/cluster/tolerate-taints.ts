import { serviceBlocks } from "@payment-links/deploy/chart/service-blocks";
import { waitUntil } from "@payment-links/runtime/testing";
import { passHelmTest } from "./pass-helm-test.ts";
import type { Release } from "./release.ts";

const taint = "payment-links.example/dedicated";
const label = "payment-links.example/pool";
const schedulingMsMax = 60_000;
/** The values that place pods. */
const blocks = [...Object.keys(serviceBlocks), "migrations", "test"];

/**
 * On a node that lets nobody else in, the pods of the chart that tolerate its taint come up: those of
 * every Deployment, the migrations Job's and the tests'. A pod that does not tolerate it stays outside.
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
      "a pod that tolerates nothing stays outside",
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
