import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "@jest/globals";
import { getInheritedEnv } from "@payment-links/runtime/testing/inherited-env";
import { closeAfterEach, useRig } from "@payment-links/runtime/testing/use-rig";
import { createRig, parseToken } from "../../services/auth-keys/src/testing/create-rig.ts";

const script = fileURLToPath(new URL("admin.ts", import.meta.url));

const rig = useRig(createRig);

/** Runs the command line as an operator would, in a separate process. */
const runAdmin = async (args: readonly string[], environment: Record<string, string> = {}) => {
  const child = spawn(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", script, ...args],
    {
      env: { ...getInheritedEnv(), AUTH_KEYS_INTERNAL_URL: rig.internalUrl, ...environment },
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

const closeAfterTest = closeAfterEach();

type ReceivedRequest = { req: IncomingMessage; res: ServerResponse; requestCount: number };

/** Starts a server that responds with the return value as JSON, and stops it after the test. */
const startServer = async (respond: (request: ReceivedRequest) => unknown) => {
  const requests: string[] = [];
  const bodies: string[] = [];
  const server = createServer(async (req, res) => {
    requests.push(`${req.method} ${req.url}`);
    bodies.push(await text(req));
    res.setHeader("content-type", "application/json");
    res.end(JSON.stringify(respond({ req, res, requestCount: requests.length }), null, 1));
  });
  closeAfterTest({ close: () => server.close() });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, requests, bodies };
};

describe("admin account create", () => {
  test("prints the account and a working sign-in link as a single JSON line (rule OPS-3)", async () => {
    const createArgs = ["account", "create", "--handle", "Alice", "--username", "Alice & Co"];
    const { code, stdout, stderr } = await runAdmin(createArgs);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^\{[^\n]*\}\n$/);
    const result = JSON.parse(stdout);
    expect(Object.keys(result)).toEqual(["userId", "handle", "signInUrl"]);
    expect(result.handle).toBe("alice");
    const cookie = await rig.signIn(parseToken(result.signInUrl));
    const accountResponse = await rig.call("GET", "/console/api/account", { cookie });
    expect(accountResponse.body).toMatchObject({ id: result.userId, username: "Alice & Co" });
  });

  test("without a handle creates an account without one, and its id gives a new sign-in link", async () => {
    const createResult = await runAdmin(["account", "create", "--username", "Nameless"]);
    const { userId, handle } = JSON.parse(createResult.stdout);
    expect(handle).toBeNull();
    const linkResult = await runAdmin(["account", "sign-in-link", "--user-id", userId]);
    expect(Object.keys(JSON.parse(linkResult.stdout))).toEqual(["signInUrl"]);
  });

  test("prints an API error on stderr, with code and text, and exits with 1", async () => {
    const createArgs = ["account", "create", "--handle", "taken", "--username", "T"];
    await runAdmin(createArgs);
    expect(await runAdmin(createArgs)).toEqual({
      code: 1,
      stdout: "",
      stderr: `HANDLE_TAKEN: The handle belongs to another account. (from auth-keys at ${rig.internalUrl})\n`,
    });
  });
});

describe("admin account sign-in-link", () => {
  test("prints a link for a known handle (rule OPS-3)", async () => {
    await runAdmin(["account", "create", "--handle", "again", "--username", "A"]);
    const { code, stdout } = await runAdmin(["account", "sign-in-link", "--handle", "again"]);
    expect(code).toBe(0);
    await rig.signIn(parseToken(JSON.parse(stdout).signInUrl));
  });

  test("reports a handle that does not exist", async () => {
    expect(await runAdmin(["account", "sign-in-link", "--handle", "nobody"])).toEqual({
      code: 1,
      stdout: "",
      stderr: `no account has this handle or id (asked auth-keys at ${rig.internalUrl})\n`,
    });
  });
});

/** Creates an account. `runAccountAction` runs a command for it and returns the printed JSON. */
const createActedAccount = async (handle: string) => {
  const { stdout } = await runAdmin(
    "account create --username N --handle".split(" ").concat(handle),
  );
  const runAccountAction = async (action: string, ...extraArgs: string[]) =>
    JSON.parse((await runAdmin(["account", action, "--handle", handle, ...extraArgs])).stdout);
  return { userId: JSON.parse(stdout).userId, runAccountAction };
};

describe("admin account suspend, resume and revoke-everything", () => {
  test("print the account's new state, and what was revoked (rule OPS-3)", async () => {
    const { userId, runAccountAction } = await createActedAccount("held");
    const expectedAccount = { userId, handle: "held" };
    const suspendArgs = ["suspend", "--reason", "asked", "--as", "ada"] as const;
    expect(await runAccountAction(...suspendArgs)).toEqual({
      ...expectedAccount,
      isSuspended: true,
    });
    expect(await rig.readOperators(userId)).toEqual(["ada"]);
    expect(await runAccountAction("resume")).toEqual({ ...expectedAccount, isSuspended: false });
    const noCounts = { apiKeys: 0, identities: 0, passkeys: 0, sessions: 0, signInLinks: 0 };
    expect(await runAccountAction("revoke-everything")).toEqual({ userId, ...noCounts });
  });
});

describe("admin account verify and unverify", () => {
  test("print whether the account is verified (rules OPS-3 and CALLER-38)", async () => {
    const { userId, runAccountAction } = await createActedAccount("vetted");
    const accountResponse = { userId, handle: "vetted" };
    expect(await runAccountAction("unverify", "--reason", "sold", "--as", "ada")).toEqual({
      ...accountResponse,
      isVerified: false,
    });
    expect(await rig.readOperators(userId)).toEqual(["ada"]);
    expect(await runAccountAction("verify")).toEqual({ ...accountResponse, isVerified: true });
  });
});

describe("admin republish", () => {
  test.each([
    ["accounts", "AUTH_KEYS"],
    ["payment-links", "LINKS_API"],
    ["settlements", "SETTLEMENT_LISTENER"],
  ])("%s waits until everything is published, and prints how much", async (resource, variable) => {
    const { url, requests } = await startServer(({ requestCount }) => ({
      publishedCount: 100 * requestCount,
      endedAt: requestCount < 3 ? null : "now",
    }));
    const environment = { [`${variable}_INTERNAL_URL`]: url };
    expect(await runAdmin(["republish", resource], environment)).toEqual({
      code: 0,
      stdout: '{"publishedCount":300,"endedAt":"now"}\n',
      stderr: "",
    });
    const path = `/internal/republish/${resource}`;
    expect(requests).toEqual([`POST ${path}`, `GET ${path}`, `GET ${path}`]);
  });

  test("with --no-wait, starts the republish and prints its progress", async () => {
    const { url } = await startServer(() => ({ publishedCount: 7, endedAt: null }));
    const environment = { LINKS_API_INTERNAL_URL: url };
    expect(await runAdmin(["republish", "payment-links", "--no-wait"], environment)).toEqual({
      code: 0,
      stdout: '{"publishedCount":7,"endedAt":null}\n',
      stderr: "",
    });
  });

  test("reports that the republish continues if the service becomes unavailable", async () => {
    const { url } = await startServer(({ req }) => {
      if (req.method === "GET") req.socket.destroy();
      return { publishedCount: 0, endedAt: null };
    });
    const environment = { LINKS_API_INTERNAL_URL: url };
    const { code, stderr } = await runAdmin(["republish", "payment-links"], environment);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^links-api at .*\nthe republish continues; to start it over and wait, run the command again/,
    );
  });

  test("calls the service that owns the resources, and names the variable to check if it is not there", async () => {
    const environment = { LINKS_API_INTERNAL_URL: rig.internalUrl };
    expect(await runAdmin(["republish", "payment-links"], environment)).toEqual({
      code: 1,
      stdout: "",
      stderr: `links-api is not at ${rig.internalUrl}: set LINKS_API_INTERNAL_URL\n`,
    });
  });
});

describe("admin audit list", () => {
  test("prints a page of all accounts' audit log, after the given number", async () => {
    const auditPage = { data: [], nextAfterSeq: null };
    const { url, requests } = await startServer(() => auditPage);
    const environment = { AUTH_KEYS_INTERNAL_URL: url };
    const expectedResult = { code: 0, stdout: `${JSON.stringify(auditPage)}\n`, stderr: "" };
    expect(await runAdmin(["audit", "list"], environment)).toEqual(expectedResult);
    expect(await runAdmin(["audit", "list", "--after", "100"], environment)).toEqual(
      expectedResult,
    );
    expect(requests).toEqual(["GET /internal/audit-log", "GET /internal/audit-log?afterSeq=100"]);
    expect((await runAdmin(["audit", "list", "--after", "x"], environment)).code).toBe(2);
  });
});

describe("admin commands for services other than auth-keys", () => {
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
    "%s calls %s with %s %s, and sends the first operator token as bearer",
    async (command, service, method, path) => {
      const tokens: unknown[] = [];
      const { url, requests } = await startServer(({ req }) => {
        tokens.push(req.headers.authorization);
        return { data: [] };
      });
      const variable = `${service.toUpperCase().replace("-", "_")}_INTERNAL_URL`;
      const commandWords = command.split(" ");
      const options = commandWords[0] === "dead-letters" ? ["--service", service] : [];
      const { code, stdout } = await runAdmin([...commandWords, ...options], {
        [variable]: `${url}/`,
        OPERATOR_TOKEN: "sixteen-characters, the-one-that-goes",
        INTERNAL_TOKEN: "that-of-the-services",
      });
      expect([code, stdout]).toEqual([0, '{"data":[]}\n']);
      expect([requests, tokens]).toEqual([[`${method} ${path}`], ["Bearer sixteen-characters"]]);
    },
  );
});

describe("admin settlement", () => {
  test.each([
    {
      command: ["rescan", "--chain", "8453", "--from", "100", "--to", "200"],
      body: { chainId: "8453", fromBlock: 100, toBlock: 200 },
      errorMessage: "no watched chain has this id",
    },
    {
      command: ["cancel-rescans", "--chain", "8453"],
      body: { chainId: "8453" },
      errorMessage: "no watched chain has this id",
    },
    {
      command: ["resume", "--chain", "8453", "--shared-block", "100"],
      body: { chainId: "8453", sharedBlock: 100 },
      errorMessage: "no halted chain has this id",
    },
  ])(
    "sends chain and blocks unchanged, and reports an unknown chain: $command",
    async ({ command, body, errorMessage }) => {
      const { url, requests, bodies } = await startServer(({ res, requestCount }) => {
        res.statusCode = requestCount === 1 ? 202 : 404;
        return body;
      });
      const environment = { SETTLEMENT_LISTENER_INTERNAL_URL: url };
      const firstResult = await runAdmin(["settlement", ...command], environment);
      expect([firstResult.code, firstResult.stdout]).toEqual([0, `${JSON.stringify(body)}\n`]);
      const secondResult = await runAdmin(["settlement", ...command], environment);
      expect([secondResult.code, secondResult.stderr]).toEqual([
        1,
        `${errorMessage} (asked settlement-listener at ${url})\n`,
      ]);
      expect(requests[0]).toBe(`POST /internal/settlement/${command[0]}`);
      expect(JSON.parse(bodies[0] ?? "")).toEqual(body);
    },
  );
});

describe("admin", () => {
  test.each([
    ["no arguments", []],
    ["an unknown command", ["account", "delete"]],
    ["the name of a prototype property", ["constructor"]],
    ["half a command", ["account"]],
    ["an account without a username", ["account", "create", "--handle", "x"]],
    ["a sign-in link without a handle", ["account", "sign-in-link"]],
    ["an option of another command", ["republish", "accounts", "--handle", "x"]],
    ["an option without its value", ["account", "create", "--username"]],
    ["an extra argument", ["republish", "accounts", "now"]],
    ["an unknown service", ["dead-letters", "list", "--service", "accounts"]],
    ["no service", ["dead-letters", "replay"]],
    ["no reason", ["dead-letters", "discard", "--service", "links-api", "--seq", "7"]],
    ["a name that is invalid in a header", ["audit", "list", "--as", "Łukasz"]],
    ["a payment without a link", ["devnet", "pay", "--amount", "1"]],
    ["a resume without a block", ["settlement", "resume", "--chain", "1"]],
    ["a cancellation without a chain", ["settlement", "cancel-rescans"]],
    ["a rescan without a chain", ["settlement", "rescan", "--from", "1", "--to", "2"]],
    [
      "a block that is not a number",
      ["settlement", "rescan", "--chain", "1", "--from", "-1", "--to", "0x2"],
    ],
  ])("given %s, prints the usage on stderr and exits with 2", async (_name, args) => {
    const { code, stdout, stderr } = await runAdmin(args);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("usage: npm run --silent admin -- <command>");
  });

  test("prints the usage on request and exits with 0", async () => {
    const { code, stdout, stderr } = await runAdmin(["--help"]);
    expect([code, stdout]).toEqual([0, ""]);
    expect(stderr).toMatch(/^usage:/);
  });

  test("lists only commands that the docs document", async () => {
    const page = await readFile(
      new URL("../../packages/docs/content/operations.md", import.meta.url),
      "utf8",
    );
    const documentedRows = page
      .split("\n")
      .filter((line) => line.startsWith("| `npm run --silent admin"));
    const { stderr: usage } = await runAdmin(["--help"]);
    const commands = [...usage.matchAll(/^ {2}([a-z-]+) ([a-z-]+)/gm)];
    expect(commands.length).toBeGreaterThan(10);
    for (const [command, commandGroup = "", commandVerb = ""] of commands) {
      const rows = documentedRows.filter(
        (row) => row.includes(` -- ${commandGroup} `) && row.includes(commandVerb),
      );
      expect([command, rows.length > 0]).toEqual([command, true]);
    }
  });

  test("says in one line what to do when no service listens", async () => {
    const environment = { AUTH_KEYS_INTERNAL_URL: "http://127.0.0.1:1" };
    const { code, stdout, stderr } = await runAdmin(["republish", "accounts"], environment);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toBe(
      "cannot connect to auth-keys at http://127.0.0.1:1: start it (npm start), " +
        "or set AUTH_KEYS_INTERNAL_URL\n",
    );
  });

  test("names an invalid variable", async () => {
    const environment = { AUTH_KEYS_INTERNAL_URL: "auth-keys:8081" };
    const { code, stdout, stderr } = await runAdmin(["republish", "accounts"], environment);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("AUTH_KEYS_INTERNAL_URL: must be an http or https URL");
  });
});
