import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { waitUntil } from "@payment-links/runtime/testing";

type Answer = { id?: number; result?: Record<string, unknown>; error?: { message: string } };

const startMsMax = 120_000;
const stepMsMax = 60_000;

// It asks nobody outside: not for updates, nor for names.
const flags = [
  "--headless=new",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost",
  "--remote-debugging-port=0",
];

/** A real Chromium without a window, spoken to by its own protocol (CDP). */
export const openChromium = async (program: string) => {
  const profile = await mkdtemp(join(tmpdir(), "chromium-"));
  const child = spawn(program, [...flags, `--user-data-dir=${profile}`, "about:blank"], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, HOME: profile },
  });
  const ended = new Promise<void>((resolve) => void child.once("exit", () => resolve()));
  let output = "";
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const findUrl = () => /DevTools listening on (ws:\S+)/.exec(output)?.[1];
  const close = async () => {
    child.kill("SIGKILL");
    await ended;
    await rm(profile, { recursive: true, force: true, maxRetries: 10 });
  };
  try {
    const connection = await connect(await waitUntil(() => output, findUrl, startMsMax));
    return { openTab: () => openTab(connection), close };
  } catch (error) {
    await close();
    throw error;
  }
};

type Send = (
  method: string,
  params?: object,
  sessionId?: string,
) => Promise<Record<string, unknown>>;

const connect = async (url: string): Promise<Send> => {
  const socket = new WebSocket(url);
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve);
    socket.addEventListener("error", reject);
  });
  const waiting = new Map<number, (answer: Answer) => void>();
  socket.addEventListener("message", ({ data }) => {
    const answer = JSON.parse(String(data)) as Answer;
    waiting.get(answer.id ?? 0)?.(answer);
    waiting.delete(answer.id ?? 0);
  });
  let count = 0;
  return async (method, params = {}, sessionId) => {
    const id = (count += 1);
    const answered = new Promise<Answer>((resolve) => void waiting.set(id, resolve));
    socket.send(JSON.stringify({ id, method, params, sessionId }));
    const { error, result } = await answered;
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result ?? {};
  };
};

const openTab = async (send: Send) => {
  const { targetId } = await send("Target.createTarget", { url: "about:blank" });
  const attached = await send("Target.attachToTarget", { targetId, flatten: true });
  const sessionId = String(attached["sessionId"]);
  const ask: Send = (method, params) => send(method, params, sessionId);

  /** Runs code in the page, as if a person had just clicked there; answers its JSON value. */
  const run = async (expression: string): Promise<unknown> => {
    const how = { awaitPromise: true, returnByValue: true, userGesture: true };
    const answer = await ask("Runtime.evaluate", { expression, ...how });
    const { exceptionDetails: fault, result } = answer;
    if (fault !== undefined) throw new Error(JSON.stringify(fault));
    return (result as { value?: unknown }).value;
  };
  const text = async (): Promise<string> =>
    String(await run("document.body?.innerText ?? ''").catch(() => ""));
  /** Waits until a text stands in the page. */
  const see = async (wanted: string): Promise<void> => {
    let shown = "";
    const look = async () => (shown = await text()).includes(wanted);
    await waitUntil(() => `${wanted} in: ${shown}`, look, stepMsMax);
  };
  return {
    ask,
    run,
    text,
    see,
    goTo: (url: string) => ask("Page.navigate", { url }),
    /** Clicks the first button of that name, once it is there. */
    click: async (name: string): Promise<void> => {
      await see(name);
      await run(`[...document.querySelectorAll("button")]
        .find(({ textContent }) => textContent === ${JSON.stringify(name)}).click()`);
    },
    /** Types into the field of the form with that button. */
    type: async (name: string, value: string): Promise<void> => {
      await see(name);
      await run(`[...document.querySelectorAll("form")]
        .find((form) => form.querySelector("button").textContent === ${JSON.stringify(name)})
        .querySelector("input").value = ${JSON.stringify(value)}`);
    },
  };
};
export type Tab = Awaited<ReturnType<typeof openTab>>;
