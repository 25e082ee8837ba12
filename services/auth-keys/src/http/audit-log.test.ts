import { describe, expect, test } from "@jest/globals";
import * as z from "zod";
import { sql } from "slonik";
import { sqlVoid } from "@payment-links/postgres";
import { countLockWaits } from "@payment-links/postgres/testing";
import { waitUntil } from "@payment-links/runtime/testing";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { hangLimitMs } from "@payment-links/runtime/testing/time-limits";
import { fillAuditLog } from "../testing/fill-audit-log.ts";
import { createRig, summarizeResponse, parseToken } from "../testing/create-rig.ts";

const path = "/console/api/audit-log";
const Id = z.object({ id: z.string() });
const solanaAddress = "DRpbCBMxVnDK7maPM5tGv6MvB3v1sRMC86PZ8okm21hy";

const rig = useRig(createRig);

type ListedEntry = { id: string; action: string; targetId: string | null };

const readPage = (cookie: string, query = "") => rig.call("GET", `${path}${query}`, { cookie });

const listEntries = async (cookie: string, query = ""): Promise<ListedEntry[]> =>
  (await readPage(cookie, query)).body["data"] as ListedEntry[];

const setBio = (cookie: string, bio: string) =>
  rig.call("PATCH", "/console/api/account", { cookie, body: { bio } });

describe("GET /console/api/audit-log", () => {
  test("lists every action on the account, its wallets and keys, newest first (rule CALLER-23)", async () => {
    const { cookie } = await rig.signUp({ handle: "audited" });
    const create = async (resource: string, body: unknown) =>
      String((await rig.call("POST", `/console/api/${resource}`, { cookie, body })).body["id"]);
    const patch = (resource: string, body: unknown) =>
      rig.call("PATCH", `/console/api/${resource}`, { cookie, body });
    const deleteResource = (resource: string) =>
      rig.call("DELETE", `/console/api/${resource}`, { cookie });

    await patch("account", { handle: "audited_2", bio: "b" });
    const wallet = await create("wallets", {
      walletAddress: solanaAddress,
      tokenId: "usdc-solana",
    });
    await patch(`wallets/${wallet}`, { isDefault: false });
    await deleteResource(`wallets/${wallet}`);
    const key = await create("api-keys", { name: "shop", scopes: ["payment_link:read"] });
    await patch(`api-keys/${key}`, { active: false });
    await patch(`api-keys/${key}`, { active: true });
    const rotatedKey = await create(`api-keys/${key}/rotate`, {});
    await deleteResource(`api-keys/${key}`);

    const entries = [...(await listEntries(cookie)), ...(await listEntries(cookie, "?offset=10"))];
    expect(entries.map(({ action, targetId }) => [action, targetId])).toEqual([
      ["api_key.revoked", key],
      ["api_key.rotated", key],
      ["api_key.created", rotatedKey],
      ["api_key.activated", key],
      ["api_key.deactivated", key],
      ["api_key.created", key],
      ["wallet.deleted", wallet],
      ["wallet.changed", wallet],
      ["wallet.added", wallet],
      ["account.changed", null],
      ["session.started", expect.stringMatching(/^sess_/)],
      ["sign_in_link.made", null],
      ["account.created", null],
    ]);
  });

  test("contains actor, action, target and time, a unique id, and no secret (rule CALLER-23)", async () => {
    const { userId, token } = await rig.createAccount({ handle: "told" });
    const cookie = await rig.signIn(token);
    const body = { name: "shop", scopes: ["payment_link:read"] };
    const createdKey = await rig.call("POST", "/console/api/api-keys", { cookie, body });
    const { text, body: page } = await readPage(cookie);
    const sessionId = expect.stringMatching(/^sess_/);
    expect(page).toEqual({
      data: [
        {
          id: expect.stringMatching(/^aud_[0-7][0-9a-hjkmnp-tv-z]{25}$/),
          action: "api_key.created",
          actor: { kind: "session", id: sessionId },
          method: "link",
          targetId: createdKey.body["id"],
          detail: {
            name: "shop",
            mode: "live",
            scopes: ["payment_link:read"],
            cidrs: null,
            requestsPerMinute: null,
            burst: null,
            expiresAt: null,
          },
          address: expect.stringMatching(/127\.0\.0\.1$/),
          userAgent: "node",
          dateCreated: rig.clock.now().toISOString(),
        },
        expect.objectContaining({
          action: "session.started",
          actor: { kind: "session", id: sessionId },
        }),
        expect.objectContaining({
          action: "sign_in_link.made",
          actor: { kind: "operator", id: null },
        }),
        expect.objectContaining({ action: "account.created", detail: expect.anything() }),
      ],
      limit: 10,
      offset: 0,
      nextOffset: null,
    });
    const secrets = [
      String(createdKey.body["key"]),
      token,
      cookie.slice("session=".length),
      userId,
    ];
    for (const secret of secrets) expect(text).not.toContain(secret);
  });

  test("returns pages of ten, with each entry exactly once, until there are no more", async () => {
    const { cookie } = await rig.signUp();
    // With the entries for account, link and session, this makes exactly two pages.
    for (let count = 1; count <= 17; count += 1) await setBio(cookie, `bio ${count}`);
    const first = (await readPage(cookie)).body;
    expect([first["limit"], first["nextOffset"]]).toEqual([10, 10]);
    const second = (await readPage(cookie, "?offset=10")).body;
    expect(second["nextOffset"]).toBeNull();
    const ids = [first, second].flatMap(({ data }) => (data as ListedEntry[]).map(({ id }) => id));
    expect(new Set(ids).size).toBe(20);
    const lastPage = (await readPage(cookie, "?offset=20")).body;
    expect(lastPage).toEqual({ data: [], limit: 10, offset: 20, nextOffset: null });
  });

  test("responds 429 to an account's second concurrent request for a deep page (rule API-26)", async () => {
    const { cookie } = await rig.signUp();
    const pendingPages: ReturnType<typeof readPage>[] = [];
    await rig.pool.transaction(async (tx) => {
      await tx.query(sqlVoid`LOCK TABLE audit_log IN ACCESS EXCLUSIVE MODE`);
      pendingPages.push(readPage(cookie, "?offset=1000000"));
      await waitUntil("the request waits for a lock", async () => (await countLockWaits(tx)) > 0);
      expect(summarizeResponse(await readPage(cookie, "?offset=10000"))).toBe("429 429");
    });
    expect((await Promise.all(pendingPages)).map(({ status }) => status)).toEqual([200]);
  });

  test("uses UUIDs of version 7 as ids, which start with the time", async () => {
    const { userId } = await rig.signUp();
    const ids = await rig.pool.anyFirst(sql.type(Id)`
      SELECT id FROM audit_log WHERE account_id = ${userId}
    `);
    expect(ids).toHaveLength(3);
    for (const id of ids) {
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      const createdAtMs = Number.parseInt(id.slice(0, 13).replace("-", ""), 16);
      expect(Math.abs(Date.now() - createdAtMs)).toBeLessThan(hangLimitMs(1_000));
    }
  });

  test("lists only the account's own entries", async () => {
    const user = await rig.signUp();
    const otherUser = await rig.signUp();
    await setBio(otherUser.cookie, "of the other");
    expect((await listEntries(user.cookie)).map(({ action }) => action)).toEqual([
      "session.started",
      "sign_in_link.made",
      "account.created",
    ]);
  });

  test("does not list rejected requests, because they changed nothing", async () => {
    const { cookie } = await rig.signUp();
    await setBio(cookie, "x".repeat(501));
    await rig.call("POST", "/console/api/api-keys", { cookie, body: { name: "n", scopes: [] } });
    await rig.call("DELETE", "/console/api/wallets/wallet_1", { cookie });
    expect(await listEntries(cookie)).toHaveLength(3);
  });

  test.each([
    ["-1", "422 greater_than_equal"],
    ["2147483648", "422 less_than_equal"],
    ["ten", "422 int_parsing"],
    ["1.5", "422 int_parsing"],
  ])("given the offset %s, responds %s", async (offset, expected) => {
    const { cookie } = await rig.signUp();
    expect(summarizeResponse(await readPage(cookie, `?offset=${offset}`))).toBe(expected);
  });

  test("is append-only, even for the service's own role (rule CALLER-23)", async () => {
    const { cookie } = await rig.signUp();
    const entriesBefore = await listEntries(cookie);
    const attempts = [
      [sqlVoid`UPDATE audit_log SET action = 'nothing'`, "append-only"],
      [sqlVoid`DELETE FROM audit_log`, "append-only"],
      [sqlVoid`TRUNCATE audit_log`, "permission denied"],
      [
        sqlVoid`INSERT INTO audit_log SELECT * FROM audit_log
          ON CONFLICT (id) DO UPDATE SET action = 'nothing'`,
        "append-only|generated|non-DEFAULT",
      ],
    ] as const;
    for (const [attempt, reason] of attempts) {
      await expect(rig.pool.query(attempt)).rejects.toThrow(new RegExp(reason));
    }
    expect(await listEntries(cookie)).toEqual(entriesBefore);
  });
});

describe("the origin of an entry", () => {
  const Origin = z.object({
    action: z.string(),
    actorKind: z.string(),
    operator: z.string().nullable(),
    address: z.string().nullable(),
    userAgent: z.string().nullable(),
  });
  const readOrigins = (userId: string) =>
    rig.pool.any(sql.type(Origin)`
      SELECT action, actor_kind AS "actorKind", operator, address, user_agent AS "userAgent"
      FROM audit_log WHERE account_id = ${userId} ORDER BY seq
    `);
  const localAddress = expect.stringMatching(/127\.0\.0\.1$/);

  test("is a user's address and browser, or an operator's name, and the owner sees only the user's (rule CALLER-23)", async () => {
    const { userId, token } = await rig.createAccount();
    const headers = { "user-agent": `Browser/1.0 ${"x".repeat(1000)}` };
    const cookie = await rig.signIn(token, { headers });
    await rig.call("PATCH", "/console/api/account", { cookie, headers, body: { bio: "b" } });
    const body = { userId, reason: "asked for" };
    const operator = { operator: "ada@example.com" };
    await rig.call("POST", "/internal/accounts/suspend", { body, headers: operator });
    await rig.call("POST", "/internal/accounts/resume", { body });

    const sessionOrigin = { actorKind: "session", operator: null, address: localAddress };
    const userAgent = headers["user-agent"].slice(0, 300);
    expect(await readOrigins(userId)).toMatchObject([
      { action: "account.created", actorKind: "operator", operator: null },
      { action: "sign_in_link.made", actorKind: "operator" },
      { action: "session.started", ...sessionOrigin, userAgent },
      { action: "account.changed", ...sessionOrigin, userAgent },
      { action: "account.suspended", actorKind: "operator", operator: operator.operator },
      { action: "account.resumed", actorKind: "operator", operator: null },
      { action: "session.revoked", actorKind: "operator", operator: null },
    ]);

    const newLink = await rig.call("POST", "/internal/sign-in-links", { body: { userId } });
    const newCookie = await rig.signIn(parseToken(newLink.body["signInUrl"]));
    const { text, body: page } = await readPage(newCookie);
    const listedEntries = page["data"] as { action: string; address: string | null }[];
    expect(listedEntries.find(({ action }) => action === "account.changed")).toMatchObject({
      address: localAddress,
      userAgent,
    });
    const suspensionEntry = listedEntries.find(({ action }) => action === "account.suspended");
    expect(suspensionEntry).toMatchObject({ address: null, userAgent: null });
    expect(text).not.toContain(operator.operator);
  });

  test("is stored for a sign-in that a suspension rejects", async () => {
    const { userId } = await rig.signUp();
    await rig.call("POST", "/internal/accounts/suspend", { body: { userId } });
    const link = await rig.call("POST", "/internal/sign-in-links", { body: { userId } });
    const body = { token: parseToken(link.body["signInUrl"]) };
    const rejected = await rig.call("POST", "/console/api/session", { body });
    expect(summarizeResponse(rejected)).toBe("403 ACCOUNT_SUSPENDED");
    expect((await readOrigins(userId)).at(-1)).toMatchObject({
      action: "session.refused",
      actorKind: "visitor",
      address: localAddress,
    });
  });
});

const fetchExport = (cookie: string, query = "", method = "GET") =>
  fetch(`${rig.publicUrl}${path}/export${query}`, { method, headers: { cookie } });

describe("a filter of the audit log", () => {
  test("narrows by resource type or action, actor, target and time, and pages contain only the matches", async () => {
    const { cookie } = await rig.signUp();
    const body = { name: "shop", scopes: ["payment_link:read"] };
    const createdKey = await rig.call("POST", "/console/api/api-keys", { cookie, body });
    const keyId = String(createdKey.body["id"]);
    rig.clock.advance(1_000);
    const keyChangedAt = rig.clock.now();
    await rig.call("PATCH", `/console/api/api-keys/${keyId}`, { cookie, body: { active: false } });
    rig.clock.advance(1_000);
    for (let count = 1; count <= 11; count += 1) await setBio(cookie, `bio ${count}`);
    const listActions = async (query: string) =>
      (await listEntries(cookie, query)).map(({ action }) => action);
    const [sessionEntry] = await listEntries(cookie, "?action=session.started");
    const keyActions = ["api_key.deactivated", "api_key.created"];
    expect(await listActions("?action=api_key")).toEqual(keyActions);
    expect(await listActions("?action=api_key.created")).toEqual(["api_key.created"]);
    expect(await listActions("?action=api")).toEqual([]);
    expect(await listActions(`?target=${keyId}`)).toEqual(keyActions);
    expect(await listActions("?actor=operator")).toEqual(["sign_in_link.made", "account.created"]);
    expect(await listActions(`?actor=${sessionEntry?.targetId}&action=api_key`)).toEqual(
      keyActions,
    );
    const at = encodeURIComponent(keyChangedAt.toISOString());
    expect(await listActions(`?from=${at}&action=api_key`)).toEqual(["api_key.deactivated"]);
    expect(await listActions(`?to=${at}&action=api_key`)).toEqual(["api_key.created"]);
    const pages = [
      await readPage(cookie, "?action=account.changed"),
      await readPage(cookie, "?action=account.changed&offset=10"),
    ];
    expect(pages.map(({ body: page }) => page["nextOffset"])).toEqual([10, null]);
    expect(pages[1]?.body["data"]).toHaveLength(1);
  });

  test.each([
    ["?action=%25", "422 string_pattern_mismatch"],
    ["?action=", "422 string_pattern_mismatch"],
    ["?action=a&action=b", "422 string_type"],
    ["?actor=%00", "422 string_pattern_mismatch"],
    [`?target=${"x".repeat(65)}`, "422 string_too_long"],
    ["?from=yesterday", "422 datetime_from_date_parsing"],
    ["?to=2026-02-30", "422 datetime_from_date_parsing"],
  ])("given %s, responds %s, also for the export", async (query, expected) => {
    const { cookie } = await rig.signUp();
    expect(summarizeResponse(await readPage(cookie, query))).toBe(expected);
    const response = await fetchExport(cookie, query);
    const body = z.record(z.string(), z.unknown()).parse(await response.json());
    expect(summarizeResponse({ status: response.status, body })).toBe(expected);
  });
});

describe("GET /console/api/audit-log/export", () => {
  test("returns each entry once as JSON Lines, as in the list, across many batches", async () => {
    const { userId, cookie } = await rig.signUp();
    await fillAuditLog(rig, userId, 1_203);
    const response = await fetchExport(cookie, "?format=jsonl");
    expect(response.headers.get("content-type")).toBe("application/jsonl; charset=utf-8");
    expect(response.headers.get("content-disposition")).toBe(
      'attachment; filename="audit-log.jsonl"',
    );
    const text = await response.text();
    expect(text.endsWith("\n")).toBe(true);
    const entries = text
      .trimEnd()
      .split("\n")
      .map((line): ListedEntry => JSON.parse(line));
    expect(entries).toHaveLength(1_206);
    expect(new Set(entries.map(({ id }) => id)).size).toBe(1_206);
    expect(entries.slice(0, 10)).toEqual(await listEntries(cookie));
    expect(entries.slice(1_200)).toEqual(await listEntries(cookie, "?offset=1200"));
    const filteredExport = await (await fetchExport(cookie, "?format=jsonl&target=n_700")).text();
    expect(filteredExport.trimEnd().split("\n")).toHaveLength(1);
  });

  test("returns CSV according to RFC 4180, without formulas (rule CALLER-23)", async () => {
    const { cookie } = await rig.signUp();
    const headers = { "user-agent": `=cmd|'/c calc'!A1, "x"` };
    const bio = 'a "quoted"\r\nline';
    await rig.call("PATCH", "/console/api/account", { cookie, headers, body: { bio } });
    for (const formulaPrefix of ["+", "-", "@"]) {
      const callOptions = { cookie, headers: { "user-agent": `${formulaPrefix}1+1` } };
      await rig.call("PATCH", "/console/api/account", {
        ...callOptions,
        body: { bio: formulaPrefix },
      });
    }
    const response = await fetchExport(cookie);
    expect(response.headers.get("content-type")).toBe("text/csv; charset=utf-8; header=present");
    const lines = (await response.text()).split("\r\n");
    const [newestEntry] = await listEntries(cookie, "?offset=3");
    const { actor, dateCreated, detail, id } = z
      .looseObject({
        actor: z.object({ id: z.string() }),
        dateCreated: z.string(),
        detail: z.record(z.string(), z.unknown()),
        id: z.string(),
      })
      .parse(newestEntry);
    expect(lines[0]).toBe(
      "id,dateCreated,action,actorKind,actorId,method,targetId,address,userAgent,detail",
    );
    const expectedPrefix = `"${id}","${dateCreated}","account.changed","session","${actor.id}","link","",`;
    const browser = `"'=cmd|'/c calc'!A1, ""x"""`;
    const detailCell = `"${JSON.stringify(detail).replaceAll('"', '""')}"`;
    expect(lines[4]?.startsWith(expectedPrefix)).toBe(true);
    expect(lines[4]?.endsWith(`${browser},${detailCell}`)).toBe(true);
    expect(lines.slice(1, 4).map((line) => /"'[+@-]1\+1"/.test(line))).toEqual([true, true, true]);
    expect(lines).toHaveLength(9);
    expect(lines.at(-1)).toBe("");
  });

  test("starts the CSV with a byte order mark, so that spreadsheets read it as UTF-8 (rule CALLER-34)", async () => {
    const { cookie } = await rig.signUp();
    const fetchExportBytes = async (query: string) =>
      new Uint8Array(await (await fetchExport(cookie, query)).arrayBuffer());
    expect(Array.from((await fetchExportBytes("")).subarray(0, 5))).toEqual([
      0xef, 0xbb, 0xbf, 0x69, 0x64,
    ]);
    const [firstByte] = await fetchExportBytes("?format=jsonl");
    expect(firstByte).toBe("{".charCodeAt(0));
  });

  test("contains only the account's own entries, without the name or address of an operator", async () => {
    const { userId, cookie } = await rig.signUp();
    const otherUser = await rig.signUp();
    const headers = { operator: "ada@example.com" };
    await rig.call("POST", "/internal/sign-in-links", { body: { userId }, headers });
    const text = await (await fetchExport(cookie, "?format=jsonl")).text();
    const entries = text.trimEnd().split("\n");
    expect(entries).toHaveLength(4);
    expect(text).not.toContain("ada@");
    expect(JSON.parse(entries[0] ?? "")).toMatchObject({ address: null, userAgent: null });
    expect((await (await fetchExport(otherUser.cookie)).text()).split("\r\n")).toHaveLength(5);
  });

  test("rejects an export of more than 100,000 entries instead of truncating it (rule CALLER-23)", async () => {
    const { userId, cookie } = await rig.signUp();
    rig.clock.advance(1_000);
    const from = encodeURIComponent(rig.clock.now().toISOString());
    await fillAuditLog(rig, userId, 99_997);
    expect((await fetchExport(cookie, "", "HEAD")).status).toBe(200);
    await fillAuditLog(rig, userId, 1);
    expect((await fetchExport(cookie)).status).toBe(422);
    expect((await fetchExport(cookie, `?from=${from}`, "HEAD")).status).toBe(200);
  });

  test("does not hold a database connection while a client stops reading, and does not fail when the client disconnects", async () => {
    const { userId, cookie } = await rig.signUp();
    await fillAuditLog(rig, userId, 60_000);
    const abortController = new AbortController();
    const logLineCount = rig.logLines.length;
    const response = await fetch(`${rig.publicUrl}${path}/export`, {
      headers: { cookie },
      signal: abortController.signal,
    });
    expect(response.status).toBe(200);
    await waitUntil("no batch is being read", () => rig.pool.state().acquiredConnections === 0);
    abortController.abort();
    await waitUntil("the end of the request is logged", () =>
      rig.logLines.slice(logLineCount).some((line) => line.includes('"request completed"')),
    );
    expect(rig.logLines.slice(logLineCount).join("")).not.toContain("request failed");
  });
});

describe("GET /internal/audit-log", () => {
  test("returns all accounts' entries to an operator, oldest first, each once, except those of the last minute", async () => {
    const ownRig = await createRig();
    try {
      const insertSettledEntries = (first: number, last: number) =>
        ownRig.pool.query(sqlVoid`
          INSERT INTO audit_log (
            occurred_at, written_at, account_id, actor_kind, operator, action, target_id, detail
          )
          SELECT ${sql.timestamp(ownRig.clock.now())}, now() - interval '1 hour', 'user_' || n % 3,
            'operator', 'ada@example.com', 'account.suspended', 'n_' || n, '{}'
          FROM generate_series(${first}::int, ${last}::int) AS n
        `);
      await insertSettledEntries(1, 130);
      const { userId } = await ownRig.signUp();
      // Simulates a transaction that started earlier and committed later. A reader that had paged
      // past it would miss the earlier entries.
      await insertSettledEntries(131, 131);
      const fetchPage = async (query: string) => {
        const { body } = await ownRig.call("GET", `/internal/audit-log${query}`);
        return body as { data: Record<string, unknown>[]; nextAfterSeq: string | null };
      };
      const first = await fetchPage("");
      const second = await fetchPage(`?afterSeq=${first.nextAfterSeq}`);
      expect([first.data.length, second.data.length, second.nextAfterSeq]).toEqual([100, 30, null]);
      const targets = [...first.data, ...second.data].map(({ targetId }) => targetId);
      expect(targets).toEqual(Array.from({ length: 130 }, (_, index) => `n_${index + 1}`));
      expect(first.data[0]).toMatchObject({
        id: expect.stringMatching(/^aud_/),
        accountId: "user_1",
        actor: { kind: "operator", id: null, operator: "ada@example.com" },
      });
      expect(JSON.stringify([first, second])).not.toContain(userId);
      expect(summarizeResponse(await ownRig.call("GET", "/internal/audit-log?afterSeq=x"))).toBe(
        "422 int_parsing",
      );
    } finally {
      await ownRig.close();
    }
  });
});
