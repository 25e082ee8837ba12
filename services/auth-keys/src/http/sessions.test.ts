import { describe, expect, test } from "@jest/globals";
import { sql } from "slonik";
import * as z from "zod";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { sessionIdleMs, sessionLifetimeMs } from "../domain/session.ts";
import { createRig, summarizeResponse, parseToken } from "../testing/create-rig.ts";
import { createWallet, signInWithWallet } from "../testing/siwe.ts";

const path = "/console/api/sessions";
const sessionPath = "/console/api/session";

type ListedSession = { id: string; isCurrent: boolean; lastSeenAt: string };

const rig = useRig(createRig);

const listSessions = async (cookie: string): Promise<ListedSession[]> => {
  const { body } = await rig.call("GET", path, { cookie });
  return body["data"] as ListedSession[];
};

/** Signs in again, as if in another browser. */
const signInAgain = async (userId: string): Promise<string> => {
  const signInLink = await rig.call("POST", "/internal/sign-in-links", { body: { userId } });
  return rig.signIn(parseToken(signInLink.body["signInUrl"]));
};

const isAlive = async (cookie: string) =>
  (await rig.call("GET", sessionPath, { cookie })).status === 200;

describe("GET /console/api/sessions", () => {
  test("lists the account's sessions, newest first, and marks the current one", async () => {
    const { userId, cookie } = await rig.signUp();
    const startedAt = rig.clock.now();
    rig.clock.advance(1_000);
    const otherCookie = await signInAgain(userId);
    const sessions = await listSessions(cookie);
    expect(sessions).toEqual([
      expect.objectContaining({ isCurrent: false }),
      {
        id: expect.stringMatching(/^sess_/),
        method: "link",
        dateCreated: startedAt.toISOString(),
        lastSeenAt: startedAt.toISOString(),
        expiresAt: new Date(startedAt.getTime() + sessionLifetimeMs).toISOString(),
        device: null,
        isCurrent: true,
      },
    ]);
    expect((await listSessions(otherCookie)).map(({ isCurrent }) => isCurrent)).toEqual([
      true,
      false,
    ]);
  });

  test("includes each session's method, and no other account's sessions", async () => {
    await rig.signUp();
    const { cookie } = await signInWithWallet(rig, createWallet());
    expect(await listSessions(cookie)).toMatchObject([{ method: "siwe", isCurrent: true }]);
  });

  test("names the device of each session, and stores nothing else of its user agent", async () => {
    const { token, userId } = await rig.createAccount();
    const userAgent =
      "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36";
    const headers = { "user-agent": userAgent };
    const cookie = await rig.signIn(token, { headers });
    expect(await listSessions(cookie)).toMatchObject([{ device: "Chrome on macOS" }]);
    const rows = await rig.pool.any(sql.type(z.object({ row: z.string() }))`
      SELECT row_to_json(sessions)::text AS row FROM sessions WHERE account_id = ${userId}
    `);
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain("156");
  });

  test("includes when each session was last seen, and omits sessions that have ended", async () => {
    const { userId, cookie } = await rig.signUp();
    await signInAgain(userId);
    rig.clock.advance(sessionIdleMs - 1);
    const seenAt = rig.clock.now().toISOString();
    await isAlive(cookie);
    await rig.flushLastUses();
    expect((await listSessions(cookie)).map(({ lastSeenAt }) => lastSeenAt)).toContain(seenAt);
    expect(await listSessions(cookie)).toHaveLength(2);
    rig.clock.advance(1);
    expect(await listSessions(cookie)).toMatchObject([{ isCurrent: true, lastSeenAt: seenAt }]);
  });
});

describe("DELETE /console/api/sessions", () => {
  test("ends all sessions of the account except the current one, and no other account's", async () => {
    const { userId, cookie } = await rig.signUp();
    const otherCookies = [await signInAgain(userId), await signInAgain(userId)];
    const { cookie: unrelatedCookie } = await rig.signUp();
    const response = await rig.call("DELETE", path, { cookie });
    expect([response.status, response.text]).toEqual([204, ""]);
    for (const otherCookie of otherCookies) expect(await isAlive(otherCookie)).toBe(false);
    expect(await isAlive(unrelatedCookie)).toBe(true);
    expect(await listSessions(cookie)).toMatchObject([{ isCurrent: true }]);
    const actions = await rig.readAudit(userId);
    expect(actions.filter((action) => action === "session.revoked")).toHaveLength(2);
  });
});

describe("DELETE /console/api/sessions/{id}", () => {
  test("ends the session immediately, here and for introspecting services", async () => {
    const { userId, cookie } = await rig.signUp();
    const otherCookie = await signInAgain(userId);
    // The session is in use, so the test would notice a cached response.
    expect(await isAlive(otherCookie)).toBe(true);
    const id = (await listSessions(cookie)).find(({ isCurrent }) => !isCurrent)?.id ?? "";
    const response = await rig.call("DELETE", `${path}/${id}`, { cookie });
    expect([response.status, response.text]).toEqual([204, ""]);
    expect(await isAlive(otherCookie)).toBe(false);
    expect(await isAlive(cookie)).toBe(true);
    const introspection = await rig.introspect("session", otherCookie.slice("session=".length));
    expect(introspection["found"]).toBe(false);
    expect(await rig.readAudit(userId)).toContain("session.revoked");
  });

  test("can end the current session", async () => {
    const { cookie } = await rig.signUp();
    const [ownSession] = await listSessions(cookie);
    expect((await rig.call("DELETE", `${path}/${ownSession?.id}`, { cookie })).status).toBe(204);
    expect(await isAlive(cookie)).toBe(false);
  });

  test("responds 404 for another account's, a deleted or an invalid id, and does not end a session", async () => {
    const owner = await rig.signUp();
    const [ownSession] = await listSessions(owner.cookie);
    const { cookie } = await rig.signUp();
    for (const id of [ownSession?.id, "sess_01m7y4kb9sfvktcnzb0r3g9a0s", "x", "%00"]) {
      const response = await rig.call("DELETE", `${path}/${id}`, { cookie });
      expect(summarizeResponse(response)).toBe("404 NOT_FOUND");
    }
    expect(await isAlive(owner.cookie)).toBe(true);
  });
});
