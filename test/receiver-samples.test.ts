import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { endChild, isRunning } from "@payment-links/runtime/testing/end-child";
import { findFreePorts } from "@payment-links/runtime/testing/free-port";
import { inheritedEnv } from "@payment-links/runtime/testing/inherited-env";
import { commandMsMax } from "@payment-links/runtime/testing/time-limits";
import { needing } from "./helm/tools.ts";
import { type SampleRequest, listSampleRequests, secret } from "./receiver-samples/requests.ts";
import { projectRoot } from "./rig/child.ts";
import { findTool } from "./rig/find-tool.ts";
import { readBlocks } from "./rig/read-blocks.ts";

const samples = join(projectRoot, "packages/console/app/pages/webhooks/samples");
const drivers = join(projectRoot, "test/receiver-samples");

type Sample = {
  tool: string;
  /** Files to copy, by their place in the receiver's folder. */
  files: Readonly<Record<string, string>>;
  build?: readonly string[];
  run: (port: number) => readonly string[];
};

/** Node's receiver is that of the README; the others are drivers of the test. */
const receivers: Readonly<Record<string, Sample>> = {
  "Node.js": {
    tool: "node",
    files: {
      "read-webhook.mjs": join(samples, "read-webhook.mjs"),
      "receiver.mjs": join(samples, "receiver.mjs"),
    },
    run: () => ["receiver.mjs"],
  },
  Python: {
    tool: "python3",
    files: {
      "read_webhook.py": join(samples, "read_webhook.py"),
      "receiver.py": join(drivers, "receiver.py"),
    },
    run: () => ["receiver.py"],
  },
  PHP: {
    tool: "php",
    files: {
      "read_webhook.php": join(samples, "read_webhook.php"),
      "receiver.php": join(drivers, "receiver.php"),
    },
    run: (port) => ["-n", "-S", `127.0.0.1:${port}`, "receiver.php"],
  },
  Go: {
    tool: "go",
    files: {
      "webhooks/read_webhook.go": join(samples, "read_webhook.go"),
      "receiver.go": join(drivers, "receiver.go"),
    },
    build: ["build", "-o", "receiver", "."],
    run: () => [],
  },
};

/** Sends a request piece by piece; returns the status of the answer, or why there is none. */
const send = async (port: number, { pieces }: SampleRequest): Promise<number | string> => {
  const socket = connect(port, "127.0.0.1");
  let answer = "";
  socket.on("data", (chunk: Buffer) => (answer += chunk.toString("latin1")));
  try {
    await once(socket, "connect");
    for (const piece of pieces) {
      await new Promise((resolve) => socket.write(piece, resolve));
      await setImmediate();
    }
    if (!socket.closed) await once(socket, "close");
  } catch (error) {
    return String(error);
  }
  return Number(/^HTTP\/1\.[01] (\d{3}) /.exec(answer)?.[1] ?? Number.NaN);
};

for (const [language, sample] of Object.entries(receivers)) {
  const tool = findTool(sample.tool);
  needing(sample.tool).describe(`the ${language} sample for a webhook receiver`, () => {
    let folder = "";
    let port = 0;
    let receiver: ChildProcess;
    let printed = "";
    let faults = "";
    beforeAll(async () => {
      if (tool === undefined) return;
      folder = await mkdtemp(join(tmpdir(), "payment-links-receiver-"));
      for (const [place, file] of Object.entries(sample.files)) {
        await mkdir(dirname(join(folder, place)), { recursive: true });
        await cp(file, join(folder, place));
      }
      [port = 0] = await findFreePorts(1);
      const env = {
        ...inheritedEnv(),
        HOME: process.env["HOME"] ?? folder,
        PORT: String(port),
        SECRET: secret,
      };
      if (sample.build !== undefined) {
        await writeFile(join(folder, "go.mod"), "module example.com/receiver\n\ngo 1.20\n");
        execFileSync(tool, sample.build, { cwd: folder, env, timeout: commandMsMax });
      }
      const program = sample.build === undefined ? tool : join(folder, "receiver");
      receiver = spawn(program, sample.run(port), { cwd: folder, env, stdio: "pipe" });
      receiver.stdout?.on("data", (chunk: Buffer) => (printed += chunk.toString()));
      receiver.stderr?.on("data", (chunk: Buffer) => (faults += chunk.toString()));
      await waitUntil("the receiver listens", async () => {
        if (!isRunning(receiver)) throw new Error(faults);
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
      await endChild(receiver);
      await rm(folder, { recursive: true, force: true });
    });

    test("accepts genuine requests alone, and processes each signed id once (rule HOOK-20)", async () => {
      const requests = listSampleRequests(Math.floor(Date.now() / 1000));
      const statuses: [string, number | string][] = [];
      for (const request of requests) statuses.push([request.name, await send(port, request)]);
      const ids = new Set(requests.flatMap(({ id, isGenuine }) => (isGenuine ? [id] : [])));
      // A receiver may process a webhook after its answer.
      await endChild(receiver);
      expect({ statuses, processedCount: printed.match(/\n/g)?.length }).toEqual({
        statuses: requests.map(({ name, isGenuine }) => [name, isGenuine ? 204 : 401]),
        processedCount: ids.size,
      });
    });
  });
}

describe("README.md", () => {
  test("shows the tested samples word for word (rule HOOK-20)", async () => {
    const readme = await readFile(join(projectRoot, "README.md"), "utf8");
    const shown = readBlocks(readme, "A first payment").map(({ text }) => text);
    for (const name of ["read-webhook.mjs", "receiver.mjs"]) {
      const text = await readFile(join(samples, name), "utf8");
      expect(
        shown.filter((block) => block.includes(`cat > ${name} <<'END'\n${text}END\n`)),
      ).toHaveLength(1);
    }
  });
});
