import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { type IncomingMessage, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { WebhookRefusedError, readWebhook } from "../index.ts";
import { commands } from "./commands.ts";
import { readConfig, writeConfig } from "./config-file.ts";
import { parseEventStream } from "./event-stream.ts";
import { runCommand } from "./run-command.ts";
import { createTerminal } from "./testing/create-terminal.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "payment-links-command-"));
});
afterEach(() => rm(folder, { recursive: true }));

const run = async (words: string[], env: Record<string, string> = {}) => {
  const recorded = createTerminal({ env: { XDG_CONFIG_HOME: folder, ...env } });
  const exitCode = await runCommand(words, recorded.terminal);
  return { ...recorded, exitCode, text: [...recorded.lines, ...recorded.notes].join("\n") };
};

/** Starts a server that responds with a status. */
const startServer = async (respond: (req: IncomingMessage, body: Buffer) => Promise<number>) => {
  const server = createServer((req, res) => {
    const handle = async () => void res.writeHead(await respond(req, await buffer(req))).end("{}");
    void handle();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
};

const apiKey = "plk_test_secret";

describe("the command line", () => {
  test("shows help for every command, with all options", async () => {
    const { exitCode, text } = await run(["--help"]);
    expect(exitCode).toBe(0);
    for (const { name, options, summary } of commands) {
      expect(text).toContain(`  ${name} `);
      const help = await run([...name.split(" "), "--help"]);
      expect(help.exitCode).toBe(0);
      expect(help.text).toContain(summary);
      for (const option of Object.keys(options)) expect(help.text).toContain(`--${option}`);
    }
    expect((await run([])).exitCode).toBe(2);
  });

  test.each([
    ["an unknown command", ["shop"]],
    ["an unknown option", ["links", "list", "--all"]],
    ["a missing argument", ["links", "get"]],
    ["another argument", ["links", "get", "a", "b"]],
    ["a missing value", ["links", "create", "--amount"]],
    ["no amount", ["links", "create"]],
    ["an unknown status", ["links", "list", "--status", "paid"]],
    ["a limit of 0", ["links", "list", "--limit", "0"]],
    ["an unknown outcome", ["pay", "plink_1", "--outcome", "refunded"]],
    ["a receiver that is not a URL", ["listen", "--forward-to", "3000"]],
    ["an unknown shell", ["completion", "csh"]],
    ["a URL with a path", ["links", "get", "plink_1", "--url", "https://pay.example.com/v1"]],
    [
      "a receiver on another computer",
      ["doctor", "--receiver", "https://shop.com", "--secret", `whsec_${"0".repeat(64)}`],
    ],
  ])("exits with 2 for %s and says why", async (_name, words) => {
    const { exitCode, lines, notes } = await run(words, { PAYMENT_LINKS_API_KEY: apiKey });
    expect([exitCode, lines, notes.length]).toEqual([2, [], 1]);
  });

  test("names the missing service or key", async () => {
    expect((await run(["links", "list"])).text).toContain("PAYMENT_LINKS_URL");
    const withoutKey = await run(["links", "list", "--url", "http://127.0.0.1:1"]);
    expect([withoutKey.exitCode, withoutKey.text]).toEqual([
      2,
      expect.stringContaining("payment-links login"),
    ]);
  });

  test("exits with 1 if the service does not respond, and never shows the key", async () => {
    const env = { PAYMENT_LINKS_API_KEY: apiKey };
    const { exitCode, text } = await run(["pay", "plink_1", "--url", "http://127.0.0.1:1"], env);
    expect(exitCode).toBe(1);
    expect(text).not.toContain(apiKey);
  });

  test("watch exits with 1 if the service does not respond", async () => {
    const { exitCode, text } = await run([
      "links",
      "watch",
      "plink_1",
      "--url",
      "http://127.0.0.1:1",
    ]);
    expect([exitCode, text]).toEqual([1, expect.stringContaining("does not respond")]);
  });

  test("says how to repeat a create that may have succeeded", async () => {
    const server = await startServer(async () => 503);
    const env = { PAYMENT_LINKS_API_KEY: apiKey, PAYMENT_LINKS_URL: server.url };
    const create = ["links", "create", "--amount", "1", "--idempotency-key", "it's order 1"];
    const { exitCode, text } = await run(create, env);
    await server.close();
    expect(exitCode).toBe(1);
    const [, argument = ""] = /--idempotency-key (.+)\.$/.exec(text) ?? [];
    expect(execFileSync("sh", ["-c", `printf %s ${argument}`]).toString()).toBe("it's order 1");
  });
});

describe("the config file", () => {
  test("can be read only by its user, and is replaced as a whole", async () => {
    const env = { XDG_CONFIG_HOME: folder };
    const path = await writeConfig(env, { url: "http://a", apiKey });
    await writeConfig(env, { url: "http://b", apiKey });
    expect(path).toBe(join(folder, "payment-links", "config.json"));
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readConfig(env)).toEqual({ url: "http://b", apiKey });
    expect(JSON.parse(await readFile(path, "utf8"))).toEqual({ url: "http://b", apiKey });
    expect((await run(["logout"])).exitCode).toBe(0);
    expect(await readConfig(env)).toBeUndefined();
    expect((await run(["logout"])).exitCode).toBe(0);
  });

  test("gives its key only to its own service", async () => {
    const receivedKeys: unknown[] = [];
    const server = await startServer(async (req) => {
      receivedKeys.push(req.headers["x-api-key"]);
      return 500;
    });
    try {
      const path = "/plink_1";
      await writeConfig({ XDG_CONFIG_HOME: folder }, { url: server.url, apiKey });
      expect((await run(["pay", path])).exitCode).toBe(1);
      await writeConfig({ XDG_CONFIG_HOME: folder }, { url: "https://pay.example.com", apiKey });
      expect((await run(["pay", path, "--url", server.url])).exitCode).toBe(2);
      expect(receivedKeys).toEqual([apiKey]);
    } finally {
      await server.close();
    }
  });
});

describe("completion", () => {
  const complete = (typed: string[]): string[] => {
    const [bash = ""] = completions["bash"] ?? [];
    const script = `${bash}
COMP_WORDS=(payment-links ${typed.map((word) => `'${word}'`).join(" ")})
COMP_CWORD=${typed.length}
_payment_links
printf '%s\\n' "\${COMPREPLY[@]}"`;
    return execFileSync("bash", ["-c", script], { encoding: "utf8" }).trim().split("\n");
  };
  const completions: Record<string, string[]> = {};
  beforeEach(async () => {
    for (const shell of ["bash", "zsh", "fish"])
      completions[shell] = (await run(["completion", shell])).lines;
  });

  test("completes commands, their second words, and options in bash", () => {
    expect(complete([""])).toEqual(expect.arrayContaining(["links", "listen", "doctor", "login"]));
    expect(complete(["li"])).toEqual(["links", "listen"]);
    expect(complete(["links", ""])).toEqual(["create", "list", "get", "watch"]);
    expect(complete(["links", "create", "--am"])).toEqual(["--amount"]);
    expect(complete(["listen", "--f"])).toEqual(["--forward-to"]);
    expect(complete(["completion", "b"])).toEqual(["bash"]);
  });

  test.each(["zsh", "fish"])("names every command and option in %s", (shell) => {
    const [text = ""] = completions[shell] ?? [];
    for (const { name, options } of commands) {
      for (const word of name.split(" ")) expect(text).toContain(word);
      for (const option of Object.keys(options)) expect(text).toContain(option);
    }
  });
});

test("fish completions quote every text", async () => {
  const [text = ""] = (await run(["completion", "fish"])).lines;
  for (const line of text.split("\n")) {
    const quotes = line.replaceAll("\\'", "").split("'").length - 1;
    expect([line, quotes % 2]).toEqual([line, 0]);
  }
});

test.each([404, 405, 422])(
  "listen ends if a service responds with %d to a new listener",
  async (status) => {
    const server = await startServer(() => Promise.resolve(status));
    try {
      const words = ["listen", "--url", server.url];
      const { exitCode, notes } = await run(words, { PAYMENT_LINKS_API_KEY: apiKey });
      expect([exitCode, notes]).toEqual([1, [expect.stringContaining(`HTTP_${status}`)]]);
    } finally {
      await server.close();
    }
  },
);

test("doctor rejects a malformed key before it calls the service", async () => {
  const words = ["doctor", "--url", "http://127.0.0.1:1"];
  const { exitCode, text } = await run(words, { PAYMENT_LINKS_API_KEY: "plk_live_Ω" });
  expect([exitCode, text]).toEqual([2, expect.stringContaining("not an API key")]);
});

describe("doctor --receiver", () => {
  const secret = `whsec_${"0123456789abcdef".repeat(4)}`;

  /** Runs only the checks of a receiver. The service does not respond. */
  const checkReceiver = async (
    respond: (req: IncomingMessage, body: Buffer) => Promise<number>,
  ) => {
    const server = await startServer(respond);
    try {
      const words = ["doctor", "--json", "--url", "http://127.0.0.1:1", "--receiver", server.url];
      const { lines, text } = await run(words, { PAYMENT_LINKS_WEBHOOK_SECRET: secret });
      expect(text).not.toContain(secret);
      const checks = lines.map((line) => JSON.parse(line) as { name: string; result: string });
      return checks.filter(({ name }) => name.startsWith("Receiver")).map(({ result }) => result);
    } finally {
      await server.close();
    }
  };

  test("accepts a receiver that verifies signatures", async () => {
    const results = await checkReceiver(async ({ headers }, body) => {
      try {
        await readWebhook({ body, headers }, { secret });
        return 204;
      } catch (error) {
        return error instanceof WebhookRefusedError ? 401 : 500;
      }
    });
    expect(results).toEqual(["ok", "ok", "ok"]);
  });

  test("reports a receiver that accepts everything, and one that ignores the timestamp", async () => {
    expect(await checkReceiver(async () => 200)).toEqual(["ok", "failed", "failed"]);
    const results = await checkReceiver(async ({ headers }, body) => {
      const toleranceSeconds = 1e9;
      const check = readWebhook({ body, headers }, { secret, toleranceSeconds });
      return check.then(
        () => 200,
        () => 400,
      );
    });
    expect(results).toEqual(["ok", "ok", "failed"]);
    expect(await checkReceiver(async () => 500)).toEqual(["failed", "failed", "failed"]);
  });
});

describe("the event stream", () => {
  const parse = async (chunks: string[]) => {
    const events = [];
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => {
        for (const chunk of chunks) controller.enqueue(Buffer.from(chunk));
        controller.close();
      },
    });
    for await (const event of parseEventStream(stream)) if (event !== undefined) events.push(event);
    return events;
  };

  test("has the same events however it is split, without an incomplete one", async () => {
    const text =
      ':\n\nid: 1\nevent: webhook\ndata: {"a":": ä"}\n\nid: 2\ndata: x\n\nid: 3\ndata: y';
    const events = [
      { id: "1", name: "webhook", data: '{"a":": ä"}' },
      { id: "2", name: "message", data: "x" },
    ];
    expect(await parse([text])).toEqual(events);
    for (let index = 1; index < text.length; index += 1)
      expect(await parse([text.slice(0, index), text.slice(index)])).toEqual(events);
  });

  test("is rejected if an event is too long", async () => {
    await expect(parse(["x".repeat(1024 * 1024 + 1)])).rejects.toThrow("too long");
  });
});
