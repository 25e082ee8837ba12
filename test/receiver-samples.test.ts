import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { stopChild, isRunning } from "@payment-links/runtime/testing/stop-child";
import { findFreePorts } from "@payment-links/runtime/testing/free-port";
import { getInheritedEnv } from "@payment-links/runtime/testing/inherited-env";
import { commandMsMax } from "@payment-links/runtime/testing/time-limits";
import { requireTools } from "./helm/require-tools.ts";
import { type SampleRequest, createSampleRequests, secret } from "./receiver-samples/requests.ts";
import { projectRoot } from "./rig/child.ts";
import { findTool } from "./rig/find-tool.ts";
import { readAllBlocks } from "./rig/read-blocks.ts";

const samplesDirectory = join(projectRoot, "packages/console/app/pages/developers/samples");
const driversDirectory = join(projectRoot, "test/receiver-samples");
const receiversDirectory = join(projectRoot, "packages/docs/receivers");

type ReceiverSample = {
  tool: string;
  /** The files to copy, by their path in the receiver's folder. */
  files: Readonly<Record<string, string>>;
  build?: readonly string[];
  run: (port: number) => readonly string[];
};

/**
 * The samples of the console, and the receivers of the docs. The console's sample for Node.js
 * includes a receiver. The other ones of the console are started by receivers of this test.
 */
const samplesByLanguage: Readonly<Record<string, ReceiverSample>> = {
  "Node.js": {
    tool: "node",
    files: {
      "read-webhook.mjs": join(samplesDirectory, "read-webhook.mjs"),
      "receiver.mjs": join(samplesDirectory, "receiver.mjs"),
    },
    run: () => ["receiver.mjs"],
  },
  Python: {
    tool: "python3",
    files: {
      "read_webhook.py": join(samplesDirectory, "read_webhook.py"),
      "receiver.py": join(driversDirectory, "receiver.py"),
    },
    run: () => ["receiver.py"],
  },
  PHP: {
    tool: "php",
    files: {
      "read_webhook.php": join(samplesDirectory, "read_webhook.php"),
      "receiver.php": join(driversDirectory, "receiver.php"),
    },
    run: (port) => ["-n", "-S", `127.0.0.1:${port}`, "receiver.php"],
  },
  Go: {
    tool: "go",
    files: {
      "webhooks/read_webhook.go": join(samplesDirectory, "read_webhook.go"),
      "receiver.go": join(driversDirectory, "receiver.go"),
    },
    build: ["build", "-o", "receiver", "."],
    run: () => [],
  },
  "docs' TypeScript": {
    tool: "node",
    files: { "receiver.ts": join(receiversDirectory, "typescript/receiver.ts") },
    run: () => ["receiver.ts"],
  },
  "docs' Python": {
    tool: "python3",
    files: { "receiver.py": join(receiversDirectory, "python/receiver.py") },
    run: () => ["receiver.py"],
  },
  "docs' PHP": {
    tool: "php",
    files: { "receiver.php": join(receiversDirectory, "php/receiver.php") },
    run: (port) => ["-n", "-S", `127.0.0.1:${port}`, "receiver.php"],
  },
  "docs' Go": {
    tool: "go",
    files: { "receiver.go": join(receiversDirectory, "go/receiver.go") },
    build: ["build", "-o", "receiver", "."],
    run: () => [],
  },
  "docs' Ruby": {
    tool: "ruby",
    files: { "receiver.rb": join(receiversDirectory, "ruby/receiver.rb") },
    run: () => ["receiver.rb"],
  },
  "docs' Java": {
    tool: "java",
    files: { "Receiver.java": join(receiversDirectory, "java/Receiver.java") },
    run: () => ["Receiver.java"],
  },
};

/**
 * Sends a request in chunks. Returns the response status, or the reason why there is no response.
 */
const sendSample = async (port: number, { chunks }: SampleRequest): Promise<number | string> => {
  const socket = connect(port, "127.0.0.1");
  let response = "";
  socket.on("data", (chunk: Buffer) => (response += chunk.toString("latin1")));
  try {
    await once(socket, "connect");
    for (const requestChunk of chunks) {
      await new Promise((resolve) => socket.write(requestChunk, resolve));
      await setImmediate();
    }
    if (!socket.closed) await once(socket, "close");
  } catch (error) {
    return String(error);
  }
  return Number(/^HTTP\/1\.[01] (\d{3}) /.exec(response)?.[1] ?? Number.NaN);
};

for (const [language, sample] of Object.entries(samplesByLanguage)) {
  const tool = findTool(sample.tool);
  requireTools(sample.tool).describe(`the ${language} sample for a webhook receiver`, () => {
    let directory = "";
    let port = 0;
    let receiver: ChildProcess;
    let output = "";
    let errorOutput = "";
    beforeAll(async () => {
      if (tool === undefined) return;
      directory = await mkdtemp(join(tmpdir(), "payment-links-receiver-"));
      for (const [targetPath, file] of Object.entries(sample.files)) {
        await mkdir(dirname(join(directory, targetPath)), { recursive: true });
        await cp(file, join(directory, targetPath));
      }
      [port = 0] = await findFreePorts(1);
      const env = {
        ...getInheritedEnv(),
        HOME: process.env["HOME"] ?? directory,
        PORT: String(port),
        SECRET: secret,
      };
      if (sample.build !== undefined) {
        await writeFile(join(directory, "go.mod"), "module example.com/receiver\n\ngo 1.20\n");
        execFileSync(tool, sample.build, { cwd: directory, env, timeout: commandMsMax });
      }
      const program = sample.build === undefined ? tool : join(directory, "receiver");
      receiver = spawn(program, sample.run(port), { cwd: directory, env, stdio: "pipe" });
      receiver.stdout?.on("data", (chunk: Buffer) => (output += chunk.toString()));
      receiver.stderr?.on("data", (chunk: Buffer) => (errorOutput += chunk.toString()));
      await waitUntil("the receiver listens", async () => {
        if (!isRunning(receiver)) throw new Error(errorOutput);
        const socket = connect(port, "127.0.0.1");
        try {
          await once(socket, "connect");
          return true;
        } catch {
          return false;
        } finally {
          socket.destroy();
        }
      });
    });
    afterAll(async () => {
      if (tool === undefined) return;
      await stopChild(receiver);
      await rm(directory, { recursive: true, force: true });
    });

    test("accepts only genuine requests, and processes each signed id once (rules HOOK-20 and DOCS-3)", async () => {
      const requests = createSampleRequests(Math.floor(Date.now() / 1000));
      const statuses: [string, number | string][] = [];
      for (const request of requests)
        statuses.push([request.name, await sendSample(port, request)]);
      const ids = new Set(requests.flatMap(({ id, isGenuine }) => (isGenuine ? [id] : [])));
      // A receiver can process a webhook after it has responded.
      await stopChild(receiver);
      expect({ statuses, processedCount: output.match(/\n/g)?.length }).toEqual({
        statuses: requests.map(({ name, isGenuine }) => [name, isGenuine ? 204 : 401]),
        processedCount: ids.size,
      });
    });
  });
}

describe("the docs", () => {
  test("show the tested samples word for word (rule HOOK-20)", async () => {
    const page = await readFile(join(projectRoot, "packages/docs/content/quickstart.md"), "utf8");
    const blocks = readAllBlocks(page).map(({ text }) => text);
    for (const name of ["read-webhook.mjs", "receiver.mjs"]) {
      const text = await readFile(join(samplesDirectory, name), "utf8");
      expect(
        blocks.filter((block) => block.includes(`cat > ${name} <<'END'\n${text}END\n`)),
      ).toHaveLength(1);
    }
  });

  test("verify webhooks by the same code as the console (rule HOOK-20)", async () => {
    for (const [receiver, sample, start] of [
      ["python/receiver.py", "read_webhook.py", "import hashlib"],
      ["php/receiver.php", "read_webhook.php", "<?php"],
      ["go/receiver.go", "read_webhook.go", "// Webhook is an event"],
    ] as const) {
      const receiverText = await readFile(join(receiversDirectory, receiver), "utf8");
      const sampleText = await readFile(join(samplesDirectory, sample), "utf8");
      const verification = sampleText.slice(sampleText.indexOf(start));
      expect([receiver, receiverText.includes(verification)]).toEqual([receiver, true]);
    }
  });
});
