// A Jest runner that runs test files in Node processes with Node's own module loader, like the
// services. Jest's default runner would recompile every library in a `vm` context for each file.
import { fork } from "node:child_process";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { nodeFlags } from "../../deploy/node24.mjs";
import { compileCachePath, root } from "./jest.mjs";

const runFileScript = fileURLToPath(new URL("run-file.mjs", import.meta.url));

export default class ProcessRunner {
  #globalConfig;

  constructor(globalConfig) {
    this.#globalConfig = globalConfig;
  }

  /** Runs groups of files in parallel, the slowest group first, with one process per Jest worker. */
  async runTests(tests, watcher, onStart, onResult, onFailure, { serial }) {
    const pendingGroups = groupTests(tests).values();
    const runPendingGroups = async (workerId) => {
      for (const group of pendingGroups) {
        let testProcess;
        for (const test of group) {
          if (watcher.isInterrupted()) break;
          await onStart(test);
          testProcess ??= startTestProcess(workerId);
          const { result, error, isReusable } = await testProcess.run(this.#globalConfig, test);
          if (result) await onResult(test, result);
          else await onFailure(test, { message: error.message, stack: error.stack });
          if (!isReusable) {
            await testProcess.end(test.path);
            testProcess = undefined;
          }
        }
        await testProcess?.end(group.at(-1).path);
        if (watcher.isInterrupted()) return;
      }
    };
    const workerCount = serial ? 1 : this.#globalConfig.maxWorkers;
    await Promise.all(
      Array.from({ length: workerCount }, (_, index) => runPendingGroups(String(index + 1))),
    );
  }
}

const groupSizeMax = 16;
const testDirectory = join(root, "test/");
const browserFolder = /-browser$/;

/**
 * Groups the files that share a process. The files of one folder share processes. They are sorted
 * by name, so the groups are the same in each run. A file in `test/` gets its own process, because
 * it starts servers and many other processes. Only browser tests share a process and a rig
 * (`rig/use-shared-rig.ts`).
 */
export const groupTests = (tests) => {
  const byFolder = Map.groupBy(
    tests.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
    ({ path }) => {
      const folder = dirname(path);
      return path.startsWith(testDirectory) && !browserFolder.test(folder) ? path : folder;
    },
  );
  const groups = [...byFolder.values()].flatMap((files) =>
    Array.from({ length: Math.ceil(files.length / groupSizeMax) }, (_, index) =>
      files.slice(index * groupSizeMax, (index + 1) * groupSizeMax),
    ),
  );
  return groups.toSorted((a, b) => estimateGroupMs(b) - estimateGroupMs(a));
};

const estimateGroupMs = (group) => group.reduce((total, test) => total + estimateFileMs(test), 0);

/**
 * Returns how many milliseconds the last run took. Before the first run, assumes that tests of the
 * whole system are slow.
 */
const estimateFileMs = ({ path, duration }) =>
  duration ?? (path.startsWith(testDirectory) ? 20_000 : 1_000);

/** The time limit for a process to exit after its last result. */
const exitMsMax = 10_000;

const startTestProcess = (workerId) => {
  const child = fork(runFileScript, [], {
    execArgv: nodeFlags,
    serialization: "advanced",
    // JEST_WORKER_ID is Jest's variable. Parallel test files use it to get distinct resources.
    env: { ...process.env, NODE_COMPILE_CACHE: compileCachePath, JEST_WORKER_ID: workerId },
    // Standard output is reserved for results.
    stdio: ["ignore", 2, 2, "ipc"],
  });
  const exited = new Promise((resolve) => {
    child.once("error", resolve);
    child.once("exit", (code, signal) =>
      resolve(new Error(`the test process exited before its tests ended (${signal ?? code})`)),
    );
  });
  return {
    run: async (globalConfig, { path, context }) => {
      const replyReceived = new Promise((resolve) => {
        child.once("message", resolve);
      });
      child.send({ globalConfig, config: context.config, path }, () => undefined);
      const processEnded = exited.then((error) => ({ error, changes: ["ended"] }));
      const { result, error, changes } = await Promise.race([replyReceived, processEnded]);
      return { result, error, isReusable: changes.length === 0 };
    },
    /** Requests the process to exit. It exits immediately, unless a system call hangs. */
    end: async (path) => {
      const killTimer = setTimeout(() => {
        process.stderr.write(
          `killed the test process because it did not exit: ${relative(root, path)}\n`,
        );
        child.kill("SIGKILL");
      }, exitMsMax);
      if (child.connected) child.send("end", () => undefined);
      await exited;
      clearTimeout(killTimer);
      // A grandchild can still have the other end of the IPC channel open, which would keep Jest
      // running.
      if (child.connected) child.disconnect();
    },
  };
};
