// Jest's runner of this repository: test files run in Node processes that load modules as a service
// does. Jest's own would compile each of the libraries again for each file, within `vm`.
import { fork } from "node:child_process";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { nodeFlags } from "../../deploy/node24.mjs";
import { compileCache, root } from "./jest.mjs";

const script = fileURLToPath(new URL("run-file.mjs", import.meta.url));

export default class ProcessRunner {
  #globalConfig;

  constructor(globalConfig) {
    this.#globalConfig = globalConfig;
  }

  /** Runs groups of files, the slowest group first, as many at once as Jest has workers. */
  async runTests(tests, watcher, onStart, onResult, onFailure, { serial }) {
    const waiting = groupTests(tests).values();
    const work = async (workerId) => {
      for (const group of waiting) {
        let child;
        for (const test of group) {
          if (watcher.isInterrupted()) break;
          await onStart(test);
          child ??= startProcess(workerId);
          const { result, error, isReusable } = await child.run(this.#globalConfig, test);
          if (result) await onResult(test, result);
          else await onFailure(test, { message: error.message, stack: error.stack });
          if (!isReusable) {
            await child.end(test.path);
            child = undefined;
          }
        }
        await child?.end(group.at(-1).path);
        if (watcher.isInterrupted()) return;
      }
    };
    const workerCount = serial ? 1 : this.#globalConfig.maxWorkers;
    await Promise.all(Array.from({ length: workerCount }, (_, index) => work(String(index + 1))));
  }
}

const groupSizeMax = 16;
const wholeSet = join(root, "test/");
const browserFolder = /-browser$/;

/**
 * Files of one folder share a process, in the order of their names: a group is the same in each run.
 * A file of `test/` has a process to itself, as it starts servers and many processes of its own; only
 * those in a browser share what they stand on (`rig/use-shared-rig.ts`).
 */
export const groupTests = (tests) => {
  const byFolder = Map.groupBy(
    tests.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
    ({ path }) => {
      const folder = dirname(path);
      return path.startsWith(wholeSet) && !browserFolder.test(folder) ? path : folder;
    },
  );
  const groups = [...byFolder.values()].flatMap((files) =>
    Array.from({ length: Math.ceil(files.length / groupSizeMax) }, (_, index) =>
      files.slice(index * groupSizeMax, (index + 1) * groupSizeMax),
    ),
  );
  return groups.toSorted((a, b) => costOf(b) - costOf(a));
};

const costOf = (group) => group.reduce((total, test) => total + costOfFile(test), 0);

/**
 * Milliseconds of the last run. Before the first run, tests that start whole sets are assumed to
 * take long.
 */
const costOfFile = ({ path, duration }) => duration ?? (path.startsWith(wholeSet) ? 20_000 : 1_000);

/** How long a process may take to end after it has sent its last result. */
const exitMsMax = 10_000;

const startProcess = (workerId) => {
  const child = fork(script, [], {
    execArgv: nodeFlags,
    serialization: "advanced",
    // Jest's own name for it: files that run at once are told apart by it.
    env: { ...process.env, NODE_COMPILE_CACHE: compileCache, JEST_WORKER_ID: workerId },
    // Standard output is for results alone.
    stdio: ["ignore", 2, 2, "ipc"],
  });
  const exited = new Promise((resolve) => {
    child.once("error", resolve);
    child.once("exit", (code, signal) =>
      resolve(new Error(`the process of the tests ended before them (${signal ?? code})`)),
    );
  });
  return {
    run: async (globalConfig, { path, context }) => {
      const answered = new Promise((resolve) => {
        child.once("message", resolve);
      });
      child.send({ globalConfig, config: context.config, path }, () => undefined);
      const ended = exited.then((error) => ({ error, changes: ["ended"] }));
      const { result, error, changes } = await Promise.race([answered, ended]);
      return { result, error, isReusable: changes.length === 0 };
    },
    /** It ends immediately, unless a call into the system does not return. */
    end: async (path) => {
      const killer = setTimeout(() => {
        process.stderr.write(`killed, as its process did not end: ${relative(root, path)}\n`);
        child.kill("SIGKILL");
      }, exitMsMax);
      if (child.connected) child.send("end", () => undefined);
      await exited;
      clearTimeout(killer);
      // A process that still holds the channel's other end does not keep Jest.
      if (child.connected) child.disconnect();
    },
  };
};
