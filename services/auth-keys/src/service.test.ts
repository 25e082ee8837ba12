import { describe, expect, test } from "@jest/globals";
import * as z from "zod";
import { sql } from "slonik";
import { loadCatalogue } from "@payment-links/contracts";
import { sqlVoid, connectPool } from "@payment-links/postgres";
import { systemClock } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import type { Dependencies } from "./dependencies.ts";
import { createPublicRoutes } from "./routes.ts";
import { createRig, summarizeResponse, parseToken } from "./testing/create-rig.ts";
import { fetchNonce, createWallet, prepareSiwe } from "./testing/siwe.ts";

const Text = z.object({ text: z.string() });

const rig = useRig(createRig);

/**
 * The list is generated from the route table, so that every new route is covered. Building the
 * table does not call any dependency, so these two are enough.
 */
const sessionRequests = createPublicRoutes({
  catalogue: loadCatalogue(),
  clock: systemClock,
} as Dependencies)
  .filter(({ caller }) => caller.by === "session")
  .map(({ method, path }) => [method.toUpperCase(), path.replace(":id", "some_id")] as const);

describe("every console route (rule CALLER-6)", () => {
  test("is listed here, so that the tables below are not empty", () => {
    expect(sessionRequests.length).toBeGreaterThan(15);
  });

  test.each(sessionRequests)("%s %s responds 401 without a session", async (method, path) => {
    expect(summarizeResponse(await rig.call(method, path))).toBe("401 UNAUTHENTICATED");
  });

  test.each(sessionRequests)("%s %s responds 401 to an invented cookie", async (method, path) => {
    const cookie = `session=${"A".repeat(43)}`;
    expect(summarizeResponse(await rig.call(method, path, { cookie }))).toBe("401 UNAUTHENTICATED");
  });

  test.each(sessionRequests)("%s %s responds 401 to an API key alone", async (method, path) => {
    const { cookie } = await rig.signUp();
    const body = { name: "n", scopes: ["payment_link:read", "payment_link:create"] };
    const createdKey = await rig.call("POST", "/console/api/api-keys", { cookie, body });
    const headers = { "x-api-key": String(createdKey.body["key"]) };
    expect(summarizeResponse(await rig.call(method, path, { headers }))).toBe(
      "401 UNAUTHENTICATED",
    );
  });

  test.each(sessionRequests)(
    "%s %s rejects a cross-site request despite a session",
    async (method, path) => {
      const { cookie } = await rig.signUp();
      const headers = { "sec-fetch-site": "cross-site" };
      const response = await rig.call(method, path, { cookie, headers });
      expect(summarizeResponse(response)).toBe("403 CROSS_SITE_REQUEST");
    },
  );

  // Passkeys are unavailable, because the test's origin is an IP address.
  const readRequests = sessionRequests.filter(
    ([method, path]) => method === "GET" && !path.endsWith("/creation"),
  );
  test.each(readRequests)("%s %s disables caching", async (method, path) => {
    const { cookie } = await rig.signUp();
    const response = await rig.call(method, path, { cookie });
    // No item has the name of the path's parameter.
    const status = path.includes(":") ? 404 : 200;
    expect([response.status, response.headers.get("cache-control")]).toEqual([status, "no-store"]);
  });

  test("is rate-limited per source address, including the sign-in", async () => {
    const limitedRig = await createRig({ ipBurst: 3 });
    try {
      const results: string[] = [];
      for (let count = 0; count < 4; count += 1) {
        const body = { token: "guess" };
        results.push(
          summarizeResponse(await limitedRig.call("POST", "/console/api/session", { body })),
        );
      }
      expect(results).toEqual([...Array(3).fill("401 INVALID_SIGN_IN_TOKEN"), "429 429"]);
      const response = await limitedRig.call("GET", "/console/api/account");
      expect(response.status).toBe(429);
      expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    } finally {
      await limitedRig.close();
    }
  });
});

describe("secrets", () => {
  test("never appear in a table, an event or a log line (rule KEEP-7)", async () => {
    const { userId, token } = await rig.createAccount({ handle: "secretive" });
    const cookie = await rig.signIn(token);
    const body = { name: "n", scopes: ["payment_link:read"] };
    const createdKey = await rig.call("POST", "/console/api/api-keys", { cookie, body });
    const key = String(createdKey.body["key"]);
    const signInLink = await rig.call("POST", "/internal/sign-in-links", { body: { userId } });
    const unusedToken = parseToken(signInLink.body["signInUrl"]);
    const wallet = createWallet();
    const { siwe, browserCookie } = await prepareSiwe(rig, wallet);
    const { nonce } = await fetchNonce(rig, browserCookie);
    const callOptions = { cookie: browserCookie, body: { siwe } };
    await rig.call("POST", "/console/api/session", callOptions);
    await rig.call("POST", "/console/api/session", callOptions);
    // Secrets most often leak into logs through rejections and failures.
    await rig.call("POST", "/console/api/session", { body: { token } });
    await rig.call("POST", "/console/api/session", { body: `{"token":"${unusedToken}` });
    await rig.introspect("api-key", key);
    await rig.call("GET", "/console/api/account", { headers: { "x-api-key": key } });
    const sessionToken = cookie.slice("session=".length);
    const exposedTexts = [await dumpTables(), rig.logLines.join("\n")];
    // The database dump contains the key's public prefix, which proves that the search works.
    expect(exposedTexts[0]).toContain(key.slice(0, 13));
    const browserToken = browserCookie.slice("sign-in=".length);
    const secrets = [key, token, unusedToken, sessionToken, nonce, browserToken, siwe.signature];
    for (const secret of secrets) {
      for (const text of exposedTexts) {
        expect(text).not.toContain(secret);
        expect(text).not.toContain(Buffer.from(secret).toString("hex"));
        expect(text).not.toContain(Buffer.from(secret).toString("base64"));
      }
    }
  });
});

describe("the audit log", () => {
  test.each([
    ["updated", sqlVoid`UPDATE audit_log SET action = 'nothing.happened'`],
    ["deleted", sqlVoid`DELETE FROM audit_log`],
  ])("cannot be %s by the service's own role", async (_name, statement) => {
    await rig.createAccount();
    await expect(rig.pool.query(statement)).rejects.toThrow(/append-only/);
  });
});

describe("a started service", () => {
  test("publishes each change completely and in order right after its commit", async () => {
    const ownRig = await createRig();
    try {
      const receivedEvents: { type: string; version: number }[] = [];
      await ownRig.bus.subscribe({
        group: "listener",
        topics: ["accounts.v1"],
        handle: (records) => {
          for (const { headers, value } of records) {
            const { version } = JSON.parse(String(value));
            receivedEvents.push({ type: headers["ce_type"] ?? "", version });
          }
          return Promise.resolve({ handledCount: records.length });
        },
      });
      await ownRig.service.start();
      expect(await ownRig.service.isReady()).toBe(true);
      const { cookie } = await ownRig.signUp();
      for (const bio of ["one", "two", "three"]) {
        await ownRig.call("PATCH", "/console/api/account", { cookie, body: { bio } });
      }
      // The clock stands still, so these can only have been published by the wake-up after each
      // commit.
      await waitUntil("four events are received", () => receivedEvents.length === 4);
      expect(receivedEvents).toEqual(
        [1, 2, 3, 4].map((version) => ({ type: "account.updated", version })),
      );
    } finally {
      await ownRig.close();
    }
  });
});

/** Returns every row of all the service's tables as text. */
const dumpTables = async (): Promise<string> => {
  const pool = await connectPool({
    url: rig.database.adminUrl,
    applicationName: "dump",
    connectionsMax: 1,
    log: rig.context.log,
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
