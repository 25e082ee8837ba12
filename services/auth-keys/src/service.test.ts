import { describe, expect, test } from "@jest/globals";
import * as z from "zod";
import { sql } from "slonik";
import { openCatalogue } from "@payment-links/contracts";
import { nothing, openPool } from "@payment-links/postgres";
import { systemClock } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import type { Deps } from "./deps.ts";
import { publicRoutes } from "./routes.ts";
import { openRig, refusalOf, tokenOf } from "./testing/open-rig.ts";
import { askNonce, makeWallet, prepareSiwe } from "./testing/siwe.ts";

const Text = z.object({ text: z.string() });

const rig = useRig(openRig);

/**
 * Generated from the route table, so that no new route is forgotten. Making the table calls nothing
 * of the service, so these two are enough.
 */
const sessionCalls = publicRoutes({ catalogue: openCatalogue(), clock: systemClock } as Deps)
  .filter(({ caller }) => caller.by === "session")
  .map(({ method, path }) => [method.toUpperCase(), path.replace(":id", "some_id")] as const);

describe("every route of the console (rule CALLER-6)", () => {
  test("is counted here, so that the tables below are not empty", () => {
    expect(sessionCalls.length).toBeGreaterThan(15);
  });

  test.each(sessionCalls)("%s %s without a session answers 401", async (method, path) => {
    expect(refusalOf(await rig.call(method, path))).toBe("401 UNAUTHENTICATED");
  });

  test.each(sessionCalls)("%s %s with a made-up cookie answers 401", async (method, path) => {
    const cookie = `session=${"A".repeat(43)}`;
    expect(refusalOf(await rig.call(method, path, { cookie }))).toBe("401 UNAUTHENTICATED");
  });

  test.each(sessionCalls)("%s %s with an API key alone answers 401", async (method, path) => {
    const { cookie } = await rig.signUp();
    const body = { name: "n", scopes: ["payment_link:read", "payment_link:create"] };
    const created = await rig.call("POST", "/console/api/api-keys", { cookie, body });
    const headers = { "x-api-key": String(created.body["key"]) };
    expect(refusalOf(await rig.call(method, path, { headers }))).toBe("401 UNAUTHENTICATED");
  });

  test.each(sessionCalls)("%s %s refuses another site, session or not", async (method, path) => {
    const { cookie } = await rig.signUp();
    const headers = { "sec-fetch-site": "cross-site" };
    const answer = await rig.call(method, path, { cookie, headers });
    expect(refusalOf(answer)).toBe("403 CROSS_SITE_REQUEST");
  });

  // At an address of numbers there are no passkeys.
  const reads = sessionCalls.filter(
    ([method, path]) => method === "GET" && !path.endsWith("/creation"),
  );
  test.each(reads)("%s %s tells caches to keep nothing", async (method, path) => {
    const { cookie } = await rig.signUp();
    const answer = await rig.call(method, path, { cookie });
    expect([answer.status, answer.headers.get("cache-control")]).toEqual([200, "no-store"]);
  });

  test("and its sign-in are limited per source address", async () => {
    const limited = await openRig({ ipBurst: 3 });
    try {
      const codes: string[] = [];
      for (let count = 0; count < 4; count += 1) {
        const body = { token: "guess" };
        codes.push(refusalOf(await limited.call("POST", "/console/api/session", { body })));
      }
      expect(codes).toEqual([...Array(3).fill("401 INVALID_SIGN_IN_TOKEN"), "429 429"]);
      const answer = await limited.call("GET", "/console/api/account");
      expect(answer.status).toBe(429);
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    } finally {
      await limited.close();
    }
  });
});

describe("secrets", () => {
  test("no key, session token or sign-in token stands in a table, an event or a log line (rule KEEP-7)", async () => {
    const { userId, token } = await rig.makeAccount({ handle: "secretive" });
    const cookie = await rig.signIn(token);
    const body = { name: "n", scopes: ["payment_link:read"] };
    const created = await rig.call("POST", "/console/api/api-keys", { cookie, body });
    const key = String(created.body["key"]);
    const link = await rig.call("POST", "/internal/sign-in-links", { body: { userId } });
    const unused = tokenOf(link.body["signInUrl"]);
    const wallet = makeWallet();
    const { siwe, browser } = await prepareSiwe(rig, wallet);
    const { nonce } = await askNonce(rig, browser);
    const sent = { cookie: browser, body: { siwe } };
    await rig.call("POST", "/console/api/session", sent);
    await rig.call("POST", "/console/api/session", sent);
    // Refusals and failures are where secrets slip into a log.
    await rig.call("POST", "/console/api/session", { body: { token } });
    await rig.call("POST", "/console/api/session", { body: `{"token":"${unused}` });
    await rig.introspect("api-key", key);
    await rig.call("GET", "/console/api/account", { headers: { "x-api-key": key } });
    const sessionToken = cookie.slice("session=".length);
    const shown = [await dumpTables(), rig.logLines.join("\n")];
    // It finds what may be shown, so the search itself works.
    expect(shown[0]).toContain(key.slice(0, 13));
    const browserToken = browser.slice("sign-in=".length);
    const secrets = [key, token, unused, sessionToken, nonce, browserToken, siwe.signature];
    for (const secret of secrets) {
      for (const text of shown) {
        expect(text).not.toContain(secret);
        expect(text).not.toContain(Buffer.from(secret).toString("hex"));
        expect(text).not.toContain(Buffer.from(secret).toString("base64"));
      }
    }
  });
});

describe("the audit log", () => {
  test.each([
    ["changed", nothing`UPDATE audit_log SET action = 'nothing.happened'`],
    ["deleted", nothing`DELETE FROM audit_log`],
  ])("cannot be %s by the service's own role", async (_name, statement) => {
    await rig.makeAccount();
    await expect(rig.pool.query(statement)).rejects.toThrow(/append-only/);
  });
});

describe("a started service", () => {
  test("tells the bus of a change right after its commit, whole and in order", async () => {
    const own = await openRig();
    try {
      const heard: { type: string; version: number }[] = [];
      await own.bus.subscribe({
        group: "listener",
        topics: ["accounts.v1"],
        handle: (records) => {
          for (const { headers, value } of records) {
            const { version } = JSON.parse(String(value));
            heard.push({ type: headers["ce_type"] ?? "", version });
          }
          return Promise.resolve({ handledCount: records.length });
        },
      });
      await own.service.start();
      expect(await own.service.isReady()).toBe(true);
      const { cookie } = await own.signUp();
      for (const bio of ["one", "two", "three"]) {
        await own.call("PATCH", "/console/api/account", { cookie, body: { bio } });
      }
      // The clock stands still, so nothing but the word after each commit can have sent these.
      await waitUntil("four events are heard", () => heard.length === 4);
      expect(heard).toEqual([1, 2, 3, 4].map((version) => ({ type: "account.updated", version })));
    } finally {
      await own.close();
    }
  });
});

/** Every row of every table of the service, as text. */
const dumpTables = async (): Promise<string> => {
  const pool = await openPool({
    url: rig.database.adminUrl,
    applicationName: "dump",
    connectionsMax: 1,
    log: rig.ground.log,
  });
  try {
    const names = await pool.anyFirst(sql.type(Text)`
      SELECT tablename::text AS text FROM pg_tables WHERE schemaname = 'auth_keys'
    `);
    const rows: string[] = [];
    for (const name of names) {
      const table = sql.identifier(["auth_keys", name]);
      rows.push(...(await pool.anyFirst(sql.type(Text)`SELECT t::text AS text FROM ${table} t`)));
    }
    return rows.join("\n");
  } finally {
    await pool.end();
  }
};
