import { describe, expect, test } from "@jest/globals";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { openLog } from "./log.ts";
import { createStopList } from "./stop.ts";

const capture = () => {
  const written: string[] = [];
  const log = openLog(
    { service: "test", level: "info" },
    { write: (text) => void written.push(text) },
  );
  return { log, written };
};

describe("a stop list", () => {
  test("stops in the reverse order of the start, each step after the one before has ended", async () => {
    const list = createStopList();
    const story: string[] = [];
    for (const name of ["database", "bus", "port"]) {
      list.add(name, async () => {
        story.push(`${name} begins`);
        await new Promise((resolve) => setImmediate(resolve));
        story.push(`${name} ends`);
      });
    }
    await list.stopAll(capture().log);
    expect(story).toEqual(
      ["port", "bus", "database"].flatMap((name) => [`${name} begins`, `${name} ends`]),
    );
  });

  test("stops once, however often and however many at a time ask for it", async () => {
    const list = createStopList();
    let stops = 0;
    list.add("only", () => {
      stops += 1;
    });
    const { log } = capture();
    await Promise.all([list.stopAll(log), list.stopAll(log)]);
    await list.stopAll(log);
    expect(stops).toBe(1);
  });

  test("given a step that fails, says which and stops the others", async () => {
    const list = createStopList();
    const stopped: string[] = [];
    list.add("first", () => void stopped.push("first"));
    list.add("broken", () => Promise.reject(new Error("cannot stop")));
    list.add("also broken", () => {
      throw new Error("cannot either");
    });
    list.add("last", () => void stopped.push("last"));
    const { log, written } = capture();
    await list.stopAll(log);
    expect(stopped).toEqual(["last", "first"]);
    expect(written).toHaveLength(2);
    expect(written.join("")).toMatch(/"step":"also broken"(.|\n)*"step":"broken"/);
  });
});

/** Runs a process that stops as the given lines tell it, and answers its exit code and output. */
const runProcess = async (
  lines: string,
  act: (child: ReturnType<typeof spawn>, output: () => string) => void,
): Promise<{ code: number | null; output: string }> => {
  const index = new URL("./index.ts", import.meta.url).href;
  const script = `
    import { createStopList, crashOnUncaught, openLog, stopOnSignal } from ${JSON.stringify(index)};
    const log = openLog({ service: "child", level: "info" });
    const list = createStopList();
    ${lines}
    setInterval(() => {}, 1000);
    console.log("started");
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: "pipe" });
  let output = "";
  const read = (chunk: Buffer) => {
    output += chunk.toString();
    act(child, () => output);
  };
  child.stdout.on("data", read);
  child.stderr.on("data", read);
  const [code] = (await once(child, "close")) as [number | null];
  return { code, output };
};

describe("a process", () => {
  test.each(["SIGTERM", "SIGINT"] as const)(
    "given %s, stops in order and exits 0",
    async (signal) => {
      let isTold = false;
      const { code, output } = await runProcess(
        `list.add("step", () => console.log("stopped")); stopOnSignal(list, log);`,
        (child, output) => {
          if (!isTold && output().includes("started")) isTold = child.kill(signal);
        },
      );
      expect(output).toContain('"msg":"stopping"');
      expect(output).toContain("stopped\n");
      expect(code).toBe(0);
    },
  );

  test("given one Ctrl-C that comes twice, still stops in order", async () => {
    let isTold = false;
    // The process sends itself the second one, so that no other process makes it late.
    const { code, output } = await runProcess(
      `list.add("slow", async () => {
         const again = new Promise((resolve) => process.once("SIGINT", resolve));
         process.kill(process.pid, "SIGINT");
         await again;
         console.log("stopped");
       });
       stopOnSignal(list, log);`,
      (child, said) => {
        if (!isTold && said().includes("started")) isTold = child.kill("SIGINT");
      },
    );
    expect(output).toContain("stopped\n");
    expect(code).toBe(0);
  });

  test("given a second signal while a step of the stop hangs, exits 1 at once", async () => {
    let sent = 0;
    // It is the child that tells one Ctrl-C from two, by its own time: this is after it heard the first.
    let heardAt: number | undefined;
    // The last resort, the end after 25 s, never comes here.
    const { code } = await runProcess(
      `const later = globalThis.setTimeout;
       globalThis.setTimeout = (work) => later(work, 2 ** 31 - 1);
       list.add("hangs", () => { setInterval(() => console.log("hanging"), 50); return new Promise(() => {}); });
       stopOnSignal(list, log);`,
      (child, output) => {
        if (output().includes("hanging")) heardAt ??= performance.now();
        const isHanging = heardAt !== undefined && performance.now() - heardAt > 1_100;
        const isDue = sent === 0 ? output().includes("started") : isHanging;
        if (sent >= 2 || !isDue || !child.kill("SIGTERM")) return;
        sent += 1;
      },
    );
    expect([sent, code]).toEqual([2, 1]);
  });

  test.each([
    ["an error that nobody caught", `setTimeout(() => { throw new Error("lost"); });`],
    ["a rejection that nobody handled", `void Promise.reject(new Error("lost"));`],
  ])("given %s, says so and exits 1", async (_name, lines) => {
    const { code, output } = await runProcess(`crashOnUncaught(log); ${lines}`, () => {});
    expect(output).toMatch(/"level":"fatal"(.|\n)*"message":"lost"/);
    expect(code).toBe(1);
  });
});
