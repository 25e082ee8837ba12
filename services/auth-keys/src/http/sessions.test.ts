import { describe, expect, test } from "@jest/globals";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { sessionIdleMs, sessionLifeMs } from "../domain/session.ts";
import { openRig, refusalOf, tokenOf } from "../testing/open-rig.ts";
import { makeWallet, signInByWallet } from "../testing/siwe.ts";

const path = "/console/api/sessions";
const sessionPath = "/console/api/session";

type Listed = { id: string; isCurrent: boolean; lastSeenAt: string };

const rig = useRig(openRig);

const list = async (cookie: string): Promise<Listed[]> => {
  const { body } = await rig.call("GET", path, { cookie });
  return body["data"] as Listed[];
};

/** Signs in again, as another browser does. */
const signInAgain = async (userId: string): Promise<string> => {
  const link = await rig.call("POST", "/internal/sign-in-links", { body: { userId } });
  return rig.signIn(tokenOf(link.body["signInUrl"]));
};

const isAlive = async (cookie: string) =>
  (await rig.call("GET", sessionPath, { cookie })).status === 200;

describe("GET /console/api/sessions", () => {
  test("shows where the account is signed in, the newest first, and which one asks", async () => {
    const { userId, cookie } = await rig.signUp();
    const startedAt = rig.clock.now();
    rig.clock.advance(1_000);
    const other = await signInAgain(userId);
    const sessions = await list(cookie);
    expect(sessions).toEqual([
      expect.objectContaining({ isCurrent: false }),
      {
        id: expect.stringMatching(/^sess_/),
        method: "link",
        dateCreated: startedAt.toISOString(),
        lastSeenAt: startedAt.toISOString(),
        expiresAt: new Date(startedAt.getTime() + sessionLifeMs).toISOString(),
        isCurrent: true,
      },
    ]);
    expect((await list(other)).map(({ isCurrent }) => isCurrent)).toEqual([true, false]);
  });

  test("tells the method of each, and of no other account", async () => {
    await rig.signUp();
    const { cookie } = await signInByWallet(rig, makeWallet());
    expect(await list(cookie)).toMatchObject([{ method: "siwe", isCurrent: true }]);
  });

  test("tells when each was last seen, and leaves out what has ended", async () => {
    const { userId, cookie } = await rig.signUp();
    await signInAgain(userId);
    rig.clock.advance(sessionIdleMs - 1);
    const seenAt = rig.clock.now().toISOString();
    await isAlive(cookie);
    await rig.keepUses();
    expect((await list(cookie)).map(({ lastSeenAt }) => lastSeenAt)).toContain(seenAt);
    expect(await list(cookie)).toHaveLength(2);
    rig.clock.advance(1);
    expect(await list(cookie)).toMatchObject([{ isCurrent: true, lastSeenAt: seenAt }]);
  });
});

describe("DELETE /console/api/sessions/{id}", () => {
  test("ends the session at once, here and in what services are told", async () => {
    const { userId, cookie } = await rig.signUp();
    const other = await signInAgain(userId);
    // Known and in use, so that an answer cached anywhere would show.
    expect(await isAlive(other)).toBe(true);
    const id = (await list(cookie)).find(({ isCurrent }) => !isCurrent)?.id ?? "";
    const answer = await rig.call("DELETE", `${path}/${id}`, { cookie });
    expect([answer.status, answer.text]).toEqual([204, ""]);
    expect(await isAlive(other)).toBe(false);
    expect(await isAlive(cookie)).toBe(true);
    const told = await rig.introspect("session", other.slice("session=".length));
    expect(told["found"]).toBe(false);
    expect(await rig.readAudit(userId)).toContain("session.revoked");
  });

  test("may end the very session that asks", async () => {
    const { cookie } = await rig.signUp();
    const [own] = await list(cookie);
    expect((await rig.call("DELETE", `${path}/${own?.id}`, { cookie })).status).toBe(204);
    expect(await isAlive(cookie)).toBe(false);
  });

  test("given another account's, one gone, or none, answers 404 and ends nothing", async () => {
    const owner = await rig.signUp();
    const [own] = await list(owner.cookie);
    const { cookie } = await rig.signUp();
    for (const id of [own?.id, "sess_01m7y4kb9sfvktcnzb0r3g9a0s", "x", "%00"]) {
      const answer = await rig.call("DELETE", `${path}/${id}`, { cookie });
      expect(refusalOf(answer)).toBe("404 NOT_FOUND");
    }
    expect(await isAlive(owner.cookie)).toBe(true);
  });
});
