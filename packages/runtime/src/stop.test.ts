import { describe, expect, test } from "@jest/globals";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createLog } from "./log.ts";
import { createStopList } from "./stop.ts";

const captureLog = () => {
  const written: string[] = [];
  const log = createLog(
    { service: "test", level: "info" },
    { write: (text) => void written.push(text) },
  );
  return { log, written };
};

describe("a stop list", () => {
  test("stops in the reverse order of the start, one step after the other", async () => {
    const stopList = createStopList();
    const stopEvents: string[] = [];
    for (const name of ["database", "bus", "port"]) {
      stopList.add(name, async () => {
        stopEvents.push(`${name} begins`);
        await new Promise((resolve) => setImmediate(resolve));
        stopEvents.push(`${name} ends`);
      });
    }
    await stopList.stopAll(captureLog().log);
    expect(stopEvents).toEqual(
      ["port", "bus", "database"].flatMap((name) => [`${name} begins`, `${name} ends`]),
    );
  });

  test("stops only once, even if requested repeatedly or concurrently", async () => {
    const stopList = createStopList();
    let stopCount = 0;
    stopList.add("only", () => {
      stopCount += 1;
    });
    const { log } = captureLog();
    await Promise.all([stopList.stopAll(log), stopList.stopAll(log)]);
    await stopList.stopAll(log);
    expect(stopCount).toBe(1);
  });

  test("logs a step that fails and stops the others", async () => {
    const stopList = createStopList();
    const stopped: string[] = [];
    stopList.add("first", () => void stopped.push("first"));
    stopList.add("broken", () => Promise.reject(new Error("cannot stop")));
    stopList.add("also broken", () => {
      throw new Error("cannot either");
    });
    stopList.add("last", () => void stopped.push("last"));
    const { log, written } = captureLog();
    await stopList.stopAll(log);
    expect(stopped).toEqual(["last", "first"]);
    expect(written).toHaveLength(2);
    expect(written.join("")).toMatch(/"step":"also broken"(.|\n)*"step":"broken"/);
  });
});

/** Runs a child process with these lines of script, and returns its exit code and output. */
const runChildProcess = async (
  lines: string,
  onOutput: (child: ReturnType<typeof spawn>, getOutput: () => string) => void,
): Promise<{ code: number | null; output: string }> => {
  const index = new URL("./index.ts", import.meta.url).href;
  const script = `
    import { createStopList, exitOnUncaughtError, createLog, stopOnSignal } from ${JSON.stringify(index)};
    const log = createLog({ service: "child", level: "info" });
    const list = createStopList();
    ${lines}
    setInterval(() => {}, 1000);
    console.log("started");
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: "pipe" });
  let output = "";
  const onChunk = (chunk: Buffer) => {
    output += chunk.toString();
    onOutput(child, () => output);
  };
  child.stdout.on("data", onChunk);
  child.stderr.on("data", onChunk);
  const [code] = (await once(child, "close")) as [number | null];
  return { code, output };
};

describe("a process", () => {
  test.each(["SIGTERM", "SIGINT"] as const)(
    "stops in order and exits with code 0 on %s",
    async (signal) => {
      let isSignaled = false;
      const { code, output } = await runChildProcess(
        `list.add("step", () => console.log("stopped")); stopOnSignal(list, log);`,
        (child, getOutput) => {
          if (!isSignaled && getOutput().includes("started")) isSignaled = child.kill(signal);
        },
      );
      expect(output).toContain('"msg":"stopping"');
      expect(output).toContain("stopped\n");
      expect(code).toBe(0);
    },
  );

  test("stops in order when one Ctrl-C arrives as two signals", async () => {
    let isSignaled = false;
    // The child sends the second signal to itself, so that another process cannot delay the signal.
    const { code, output } = await runChildProcess(
      `list.add("slow", async () => {
         const again = new Promise((resolve) => process.once("SIGINT", resolve));
         process.kill(process.pid, "SIGINT");
         await again;
         console.log("stopped");
       });
       stopOnSignal(list, log);`,
      (child, getOutput) => {
        if (!isSignaled && getOutput().includes("started")) isSignaled = child.kill("SIGINT");
      },
    );
    expect(output).toContain("stopped\n");
    expect(code).toBe(0);
  });

  test("exits immediately with code 1 on a second signal while a stop step hangs", async () => {
    let sentCount = 0;
    // The child uses its own clock to distinguish a repeated signal from a second Ctrl-C. This time
    // is counted from the first signal that it received.
    let hangingSinceMs: number | undefined;
    // The script disables the forced exit after 25 s.
    const { code } = await runChildProcess(
      `const later = globalThis.setTimeout;
       globalThis.setTimeout = (work) => later(work, 2 ** 31 - 1);
       list.add("hangs", () => { setInterval(() => console.log("hanging"), 50); return new Promise(() => {}); });
       stopOnSignal(list, log);`,
      (child, getOutput) => {
        if (getOutput().includes("hanging")) hangingSinceMs ??= performance.now();
        const isHanging =
          hangingSinceMs !== undefined && performance.now() - hangingSinceMs > 1_100;
        const isDue = sentCount === 0 ? getOutput().includes("started") : isHanging;
        if (sentCount >= 2 || !isDue || !child.kill("SIGTERM")) return;
        sentCount += 1;
      },
    );
    expect([sentCount, code]).toEqual([2, 1]);
  });

  test.each([
    ["an uncaught error", `setTimeout(() => { throw new Error("lost"); });`],
    ["an unhandled rejection", `void Promise.reject(new Error("lost"));`],
  ])("logs %s and exits with code 1", async (_name, lines) => {
    const { code, output } = await runChildProcess(`exitOnUncaughtError(log); ${lines}`, () => {});
    expect(output).toMatch(/"level":"fatal"(.|\n)*"message":"lost"/);
    expect(code).toBe(1);
  });
});
