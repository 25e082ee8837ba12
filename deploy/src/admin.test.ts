import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { type IncomingMessage, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "@jest/globals";
import { inheritedEnv } from "@payment-links/runtime/testing/inherited-env";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { openRig, tokenOf } from "../../services/auth-keys/src/testing/open-rig.ts";

const script = fileURLToPath(new URL("admin.ts", import.meta.url));

const rig = useRig(openRig);

/** Runs the command line as an operator does, in a process of its own. */
const admin = async (args: readonly string[], environment: Record<string, string> = {}) => {
  const child = spawn(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", script, ...args],
    {
      env: { ...inheritedEnv(), AUTH_KEYS_INTERNAL_URL: rig.internalUrl, ...environment },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => (stdout += String(chunk)));
  child.stderr.on("data", (chunk) => (stderr += String(chunk)));
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { code, stdout, stderr };
};

/** A service that answers each call with what it is given to say. */
const serve = async (answer: (req: IncomingMessage) => unknown) => {
  const server = createServer((req, res) => {
    res.setHeader("content-type", "application/json");
    res.end(JSON.stringify(answer(req)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
};

describe("admin account create", () => {
  test("prints the account and a link that signs in, as one JSON line and nothing else (rule OPS-3)", async () => {
    const create = ["account", "create", "--handle", "Alice", "--username", "Alice & Co"];
    const { code, stdout, stderr } = await admin(create);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^\{[^\n]*\}\n$/);
    const answer = JSON.parse(stdout);
    expect(Object.keys(answer)).toEqual(["userId", "handle", "signInUrl"]);
    expect(answer.handle).toBe("alice");
    const cookie = await rig.signIn(tokenOf(answer.signInUrl));
    const account = await rig.call("GET", "/console/api/account", { cookie });
    expect(account.body).toMatchObject({ id: answer.userId, username: "Alice & Co" });
  });

  test("without a handle the account has none yet, and its id lets the person in again", async () => {
    const created = await admin(["account", "create", "--username", "Nameless"]);
    const { userId, handle } = JSON.parse(created.stdout);
    expect(handle).toBeNull();
    const again = await admin(["account", "sign-in-link", "--user-id", userId]);
    expect(Object.keys(JSON.parse(again.stdout))).toEqual(["signInUrl"]);
  });

  test("a refusal is told on stderr, by code and text, and ends with 1", async () => {
    const create = ["account", "create", "--handle", "taken", "--username", "T"];
    await admin(create);
    expect(await admin(create)).toEqual({
      code: 1,
      stdout: "",
      stderr: "HANDLE_TAKEN: The handle belongs to another account.\n",
    });
  });
});

describe("admin account sign-in-link", () => {
  test("prints a link for a known handle (rule OPS-3)", async () => {
    await admin(["account", "create", "--handle", "again", "--username", "A"]);
    const { code, stdout } = await admin(["account", "sign-in-link", "--handle", "again"]);
    expect(code).toBe(0);
    await rig.signIn(tokenOf(JSON.parse(stdout).signInUrl));
  });

  test("for a handle that nobody has says so", async () => {
    expect(await admin(["account", "sign-in-link", "--handle", "nobody"])).toEqual({
      code: 1,
      stdout: "",
      stderr: "no account has this handle or id\n",
    });
  });
});

describe("admin account suspend, resume and revoke-everything", () => {
  test("print what the account is now, and what was taken away (rule OPS-3)", async () => {
    const created = await admin(["account", "create", "--handle", "held", "--username", "H"]);
    const { userId } = JSON.parse(created.stdout);
    const run = async (act: string, ...more: string[]) =>
      JSON.parse((await admin(["account", act, "--handle", "held", ...more])).stdout);
    const told = { userId, handle: "held" };
    const suspend = ["suspend", "--reason", "asked", "--as", "ada"] as const;
    expect(await run(...suspend)).toEqual({ ...told, isSuspended: true });
    expect(await rig.readOperators(userId)).toEqual(["ada"]);
    expect(await run("resume")).toEqual({ ...told, isSuspended: false });
    const nothing = { apiKeys: 0, identities: 0, passkeys: 0, sessions: 0, signInLinks: 0 };
    expect(await run("revoke-everything")).toEqual({ userId, ...nothing });
  });
});

describe("admin account verify and unverify", () => {
  test("print whether the operator vouches for the account (rules OPS-3 and CALLER-38)", async () => {
    const created = await admin(["account", "create", "--handle", "vetted", "--username", "V"]);
    const { userId } = JSON.parse(created.stdout);
    const run = async (act: string, ...more: string[]) =>
      JSON.parse((await admin(["account", act, "--handle", "vetted", ...more])).stdout);
    const account = { userId, handle: "vetted" };
    expect(await run("unverify", "--reason", "sold", "--as", "ada")).toEqual({
      ...account,
      isVerified: false,
    });
    expect(await rig.readOperators(userId)).toEqual(["ada"]);
    expect(await run("verify")).toEqual({ ...account, isVerified: true });
  });
});

describe("admin republish", () => {
  test.each([
    ["accounts", "AUTH_KEYS"],
    ["payment-links", "LINKS_API"],
    ["settlements", "SETTLEMENT_LISTENER"],
  ])("%s waits until all is told, and prints how much", async (what, variable) => {
    const seen: unknown[] = [];
    const { url, close } = await serve((req) => {
      seen.push([req.method, req.url]);
      return { publishedCount: 100 * seen.length, endedAt: seen.length < 3 ? null : "now" };
    });
    try {
      const environment = { [`${variable}_INTERNAL_URL`]: url };
      expect(await admin(["republish", what], environment)).toEqual({
        code: 0,
        stdout: '{"publishedCount":300,"endedAt":"now"}\n',
        stderr: "",
      });
      const path = `/internal/republish/${what}`;
      expect(seen).toEqual([
        ["POST", path],
        ["GET", path],
        ["GET", path],
      ]);
    } finally {
      close();
    }
  });

  test("given --no-wait, asks and tells how it stands", async () => {
    const { url, close } = await serve(() => ({ publishedCount: 7, endedAt: null }));
    try {
      const environment = { LINKS_API_INTERNAL_URL: url };
      expect(await admin(["republish", "payment-links", "--no-wait"], environment)).toEqual({
        code: 0,
        stdout: '{"publishedCount":7,"endedAt":null}\n',
        stderr: "",
      });
    } finally {
      close();
    }
  });

  test("whose service goes away meanwhile, says that it goes on", async () => {
    const { url, close } = await serve((req) => {
      if (req.method === "GET") req.socket.destroy();
      return { publishedCount: 0, endedAt: null };
    });
    try {
      const { code, stderr } = await admin(["republish", "payment-links"], {
        LINKS_API_INTERNAL_URL: url,
      });
      expect(code).toBe(1);
      expect(stderr).toMatch(
        /^links-api at .*\nit goes on by itself; given again, the command begins anew/,
      );
    } finally {
      close();
    }
  });

  test("goes to the service whose things they are, and says where to look if that is not there", async () => {
    const environment = { LINKS_API_INTERNAL_URL: rig.internalUrl };
    expect(await admin(["republish", "payment-links"], environment)).toEqual({
      code: 1,
      stdout: "",
      stderr: `links-api is not at ${rig.internalUrl}; set LINKS_API_INTERNAL_URL\n`,
    });
  });
});

describe("admin audit list", () => {
  test("prints a page of the log of all accounts, behind the number that is given", async () => {
    const seen: string[] = [];
    const told = { data: [], nextAfterSeq: null };
    const { url, close } = await serve((req) => {
      seen.push(`${req.method} ${req.url}`);
      return told;
    });
    try {
      const environment = { AUTH_KEYS_INTERNAL_URL: url };
      const done = { code: 0, stdout: `${JSON.stringify(told)}\n`, stderr: "" };
      expect(await admin(["audit", "list"], environment)).toEqual(done);
      expect(await admin(["audit", "list", "--after", "100"], environment)).toEqual(done);
      expect(seen).toEqual(["GET /internal/audit-log", "GET /internal/audit-log?afterSeq=100"]);
      expect((await admin(["audit", "list", "--after", "x"], environment)).code).toBe(2);
    } finally {
      close();
    }
  });
});

describe("admin, of another service than auth-keys,", () => {
  const deadLetters = "/internal/dead-letters";
  test.each([
    ["dead-letters list", "links-api", "GET", `${deadLetters}/links-api`],
    [
      "dead-letters replay",
      "webhook-dispatcher",
      "POST",
      `${deadLetters}/webhook-dispatcher/replay`,
    ],
    ["dead-letters list --after 7", "links-api", "GET", `${deadLetters}/links-api?afterSeq=7`],
    [
      "dead-letters replay --key a&b --after 7",
      "links-api",
      "POST",
      `${deadLetters}/links-api/replay?key=a%26b&afterSeq=7`,
    ],
    [
      "dead-letters discard --seq 7 --reason why",
      "links-api",
      "POST",
      `${deadLetters}/links-api/discard`,
    ],
    ["settlement status", "settlement-listener", "GET", "/internal/settlement/status"],
    ["webhooks reseal", "webhook-dispatcher", "POST", "/internal/webhook-secrets/reseal"],
  ])(
    "%s asks %s by %s %s, with the first token of operators as bearer",
    async (command, service, method, path) => {
      const seen: unknown[] = [];
      const server = createServer((req, res) => {
        seen.push([req.method, req.url, req.headers.authorization]);
        res.setHeader("content-type", "application/json");
        res.end('{\n  "data": []\n}');
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      try {
        const { port } = server.address() as AddressInfo;
        const variable = `${service.toUpperCase().replace("-", "_")}_INTERNAL_URL`;
        const words = command.split(" ");
        const options = words[0] === "dead-letters" ? ["--service", service] : [];
        const { code, stdout } = await admin([...words, ...options], {
          [variable]: `http://127.0.0.1:${port}/`,
          OPERATOR_TOKEN: "sixteen-characters, the-one-that-goes",
          INTERNAL_TOKEN: "that-of-the-services",
        });
        expect([code, stdout]).toEqual([0, '{"data":[]}\n']);
        expect(seen).toEqual([[method, path, "Bearer sixteen-characters"]]);
      } finally {
        server.close();
      }
    },
  );
});

describe("admin settlement", () => {
  test.each([
    {
      command: ["rescan", "--chain", "8453", "--from", "100", "--to", "200"],
      body: { chainId: "8453", fromBlock: 100, toBlock: 200 },
      refusal: "no such chain is watched there\n",
    },
    {
      command: ["cancel-rescans", "--chain", "8453"],
      body: { chainId: "8453" },
      refusal: "no such chain is watched there\n",
    },
    {
      command: ["resume", "--chain", "8453", "--shared-block", "100"],
      body: { chainId: "8453", sharedBlock: 100 },
      refusal: "no such chain is halted there\n",
    },
  ])(
    "names chain and blocks as they are, and tells of an unknown chain: $command",
    async (given) => {
      const seen: unknown[] = [];
      const server = createServer(async (req, res) => {
        const chunks: Buffer[] = [];
        for await (const chunk of req) chunks.push(chunk);
        seen.push([req.method, req.url, JSON.parse(String(Buffer.concat(chunks)))]);
        res.statusCode = seen.length === 1 ? 202 : 404;
        res.setHeader("content-type", "application/json");
        res.end(JSON.stringify(given.body));
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      try {
        const { port } = server.address() as AddressInfo;
        const environment = { SETTLEMENT_LISTENER_INTERNAL_URL: `http://127.0.0.1:${port}` };
        const first = await admin(["settlement", ...given.command], environment);
        expect([first.code, first.stdout]).toEqual([0, `${JSON.stringify(given.body)}\n`]);
        const second = await admin(["settlement", ...given.command], environment);
        expect([second.code, second.stderr]).toEqual([1, given.refusal]);
        expect(seen[0]).toEqual(["POST", `/internal/settlement/${given.command[0]}`, given.body]);
      } finally {
        server.close();
      }
    },
  );
});

describe("admin", () => {
  test.each([
    ["nothing", []],
    ["an unknown command", ["account", "delete"]],
    ["a command of a prototype", ["constructor"]],
    ["half a command", ["account"]],
    ["no name for an account", ["account", "create", "--handle", "x"]],
    ["no handle for a link", ["account", "sign-in-link"]],
    ["an option of another command", ["republish", "accounts", "--handle", "x"]],
    ["an option without its value", ["account", "create", "--username"]],
    ["a word too many", ["republish", "accounts", "now"]],
    ["no service of ours", ["dead-letters", "list", "--service", "accounts"]],
    ["no service", ["dead-letters", "replay"]],
    ["no reason", ["dead-letters", "discard", "--service", "links-api", "--seq", "7"]],
    ["a name that no header holds", ["audit", "list", "--as", "Łukasz"]],
    ["no link to pay", ["devnet", "pay", "--amount", "1"]],
    ["no block to go on from", ["settlement", "resume", "--chain", "1"]],
    ["no chain whose rescans to cancel", ["settlement", "cancel-rescans"]],
    ["no chain to scan", ["settlement", "rescan", "--from", "1", "--to", "2"]],
    [
      "a block that is no number",
      ["settlement", "rescan", "--chain", "1", "--from", "-1", "--to", "0x2"],
    ],
  ])("given %s, shows the usage on stderr and ends with 2", async (_name, args) => {
    const { code, stdout, stderr } = await admin(args);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("usage: npm run --silent admin -- <command>");
  });

  test("shows the usage when asked for it, which is no fault", async () => {
    const { code, stdout, stderr } = await admin(["--help"]);
    expect([code, stdout]).toEqual([0, ""]);
    expect(stderr).toMatch(/^usage:/);
  });

  test("tells of no command that its README does not tell of", async () => {
    const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
    const told = readme.split("\n").filter((line) => line.startsWith("| `npm run --silent admin"));
    const { stderr: usage } = await admin(["--help"]);
    const commands = [...usage.matchAll(/^ {2}([a-z-]+) ([a-z-]+)/gm)];
    expect(commands.length).toBeGreaterThan(10);
    for (const [command, group = "", verb = ""] of commands) {
      const rows = told.filter((row) => row.includes(` -- ${group} `) && row.includes(verb));
      expect([command, rows.length > 0]).toEqual([command, true]);
    }
  });

  test("tells in one line what to do when nothing listens", async () => {
    const environment = { AUTH_KEYS_INTERNAL_URL: "http://127.0.0.1:1" };
    const { code, stdout, stderr } = await admin(["republish", "accounts"], environment);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toBe(
      "nothing listens for auth-keys at http://127.0.0.1:1: start it (npm start), " +
        "or set AUTH_KEYS_INTERNAL_URL\n",
    );
  });

  test("names a variable that cannot be used", async () => {
    const environment = { AUTH_KEYS_INTERNAL_URL: "auth-keys:8081" };
    const { code, stdout, stderr } = await admin(["republish", "accounts"], environment);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("AUTH_KEYS_INTERNAL_URL: must be an http or https URL");
  });
});
