import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect } from "@jest/globals";
import { getInheritedEnv } from "@payment-links/runtime/testing/inherited-env";
import { commandMsMax } from "@payment-links/runtime/testing/time-limits";
import { withBaseUrl } from "../packages/console/app/pages/developers/with-base-url.ts";
import { requireTools } from "./helm/require-tools.ts";
import { projectRoot } from "./rig/child.ts";
import { call, createMerchant } from "./rig/client.ts";
import { findTool } from "./rig/find-tool.ts";
import { startServicesInProcess } from "./rig/services-in-process.ts";

const samplesDirectory = join(projectRoot, "packages/console/app/pages/developers/samples");

/** Each sample, and the programs that run it. The first one gets the sample's file. */
const samples: readonly [file: string, ...tools: string[]][] = [
  ["create-link.sh", "sh", "curl"],
  ["create-link.mjs", "node"],
  ["create_link.py", "python3"],
  ["create_link.php", "php"],
];

let system: Awaited<ReturnType<typeof startServicesInProcess>>;
let directory: string;
beforeAll(async () => {
  system = await startServicesInProcess();
  directory = await mkdtemp(join(tmpdir(), "payment-links-samples-"));
});
afterAll(async () => {
  await system.close();
  await rm(directory, { recursive: true, force: true });
});

for (const [index, [file, ...tools]] of samples.entries()) {
  requireTools(...tools).test(`${file} creates a link and prints its URL`, async () => {
    const { apiKey } = await createMerchant(system, `sampler${index}`);
    const sample = await readFile(join(samplesDirectory, file), "utf8");
    const path = join(directory, file);
    await writeFile(path, withBaseUrl(sample, system.baseUrl));
    const program = findTool(tools[0] ?? "") ?? "";
    const { stdout } = await promisify(execFile)(program, [path], {
      env: { ...getInheritedEnv(), API_KEY: apiKey },
      timeout: commandMsMax,
    });
    const { body } = await call(`${system.baseUrl}/v1/payment-link`, {
      headers: { "x-api-key": apiKey },
    });
    const links = body["data"] as { description: string; url: string }[];
    expect(links.map(({ description }) => description)).toEqual(["Order 1001"]);
    expect(stdout).toContain(links[0]?.url);
  });
}
