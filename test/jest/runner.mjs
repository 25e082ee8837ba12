// Jest's runner of this repository: each test file is a Node process of its own, which loads modules
// as a service does. Jest's own would compile each of the libraries again for each file, within `vm`.
import { fork } from "node:child_process";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { nodeFlags } from "../../deploy/node24.mjs";
import { compileCache, root } from "./jest.mjs";

const script = fileURLToPath(new URL("run-file.mjs", import.meta.url));

export default class ProcessRunner {
  #globalConfig;

  constructor(globalConfig) {
    this.#globalConfig = globalConfig;
  }

  /** Runs the files, the slowest first, as many at once as Jest has workers. */
  async runTests(tests, watcher, onStart, onResult, onFailure, { serial }) {
    const waiting = tests.toSorted((a, b) => costOf(b) - costOf(a)).values();
    const work = async (workerId) => {
      for (const test of waiting) {
        if (watcher.isInterrupted()) return;
        await onStart(test);
        await runFile(this.#globalConfig, test, workerId).then(
          (result) => onResult(test, result),
          (error) => onFailure(test, { message: error.message, stack: error.stack }),
        );
      }
    };
    const workerCount = serial ? 1 : this.#globalConfig.maxWorkers;
    await Promise.all(Array.from({ length: workerCount }, (_, index) => work(String(index + 1))));
  }
}

/**
 * Milliseconds of the last run. Before the first run, tests that start whole sets are assumed to
 * take long.
 */
const costOf = ({ path, duration }) =>
  duration ?? (path.startsWith(join(root, "test/")) ? 60_000 : 1_000);

/** How long a process may take to end after it has sent its result. */
const exitMsMax = 10_000;

const runFile = (globalConfig, { path, context }, workerId) =>
  new Promise((resolve, reject) => {
    const child = fork(script, [], {
      execArgv: nodeFlags,
      serialization: "advanced",
      // Jest's own name for it: files that run at once are told apart by it.
      env: { ...process.env, NODE_COMPILE_CACHE: compileCache, JEST_WORKER_ID: workerId },
      // Standard output is for results alone.
      stdio: ["ignore", 2, 2, "ipc"],
    });
    let answer;
    let killer;
    child.once("error", reject);
    child.once("message", (message) => {
      answer = message;
      // It ends at once, unless a call into the system does not return; Jest would wait for it.
      killer = setTimeout(() => {
        process.stderr.write(`killed, as its process did not end: ${relative(root, path)}\n`);
        child.kill("SIGKILL");
      }, exitMsMax);
    });
    child.once("exit", (code, signal) => {
      clearTimeout(killer);
      if (answer?.result) resolve(answer.result);
      else if (answer) reject(answer.error);
      else reject(new Error(`the process of the tests ended before them (${signal ?? code})`));
      // Whoever still holds the channel's other end does not keep Jest.
      if (child.connected) child.disconnect();
    });
    child.send({ globalConfig, config: context.config, path });
  });
