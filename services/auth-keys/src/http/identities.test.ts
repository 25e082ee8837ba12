import { describe, expect, test } from "@jest/globals";
import { sql } from "slonik";
import { newId } from "@payment-links/contracts";
import { nothing } from "@payment-links/postgres";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { ethereumIdentity, identitiesMax } from "../domain/identity.ts";
import { openRig, refusalOf } from "../testing/open-rig.ts";
import {
  askNonce,
  makeWallet,
  prepareSiwe,
  type TestWallet,
  signInByWallet,
} from "../testing/siwe.ts";

const path = "/console/api/identities";
const sessionPath = "/console/api/session";

const rig = useRig(openRig);

/** Links a wallet from a session, as a tab of that browser does. */
const link = async (cookie: string, wallet: TestWallet) => {
  const { browser, siwe } = await prepareSiwe(rig, wallet);
  return rig.call("POST", path, { cookie: `${cookie}; ${browser}`, body: { siwe } });
};

const list = async (cookie: string) => {
  const { body } = await rig.call("GET", path, { cookie });
  return body["data"] as { id: string; subject: string }[];
};

describe("POST /console/api/identities", () => {
  test("links an Ethereum address, which signs in to this account from then on", async () => {
    const { userId, cookie } = await rig.signUp();
    const wallet = makeWallet();
    const answer = await link(cookie, wallet);
    expect([answer.status, answer.body]).toEqual([
      201,
      {
        id: expect.stringMatching(/^idn_/),
        method: "siwe",
        issuer: "eip155",
        subject: wallet.address,
        dateCreated: rig.clock.now().toISOString(),
      },
    ]);
    expect(await list(cookie)).toEqual([answer.body]);
    expect((await signInByWallet(rig, wallet)).userId).toBe(userId);
    expect(await rig.readAudit(userId)).toContain("identity.linked");
    // How an owner signs in does not change what others hold of the account.
    expect(await rig.readEvents(userId)).toHaveLength(1);
  });

  test("given one that is linked already, answers it as it is", async () => {
    const { userId, cookie } = await rig.signUp();
    const wallet = makeWallet();
    const first = await link(cookie, wallet);
    const again = await link(cookie, wallet);
    expect([again.status, again.body]).toEqual([200, first.body]);
    const audit = await rig.readAudit(userId);
    expect(audit.filter((action) => action === "identity.linked")).toHaveLength(1);
  });

  test("given another account's, answers 409 and leaves it there", async () => {
    const wallet = makeWallet();
    const owner = await signInByWallet(rig, wallet);
    const { cookie } = await rig.signUp();
    expect(refusalOf(await link(cookie, wallet))).toBe("409 IDENTITY_TAKEN");
    expect(await list(cookie)).toEqual([]);
    expect((await signInByWallet(rig, wallet)).userId).toBe(owner.userId);
  });

  test("of two accounts that link one address at once, one alone gets it", async () => {
    const wallet = makeWallet();
    const owners = await Promise.all([rig.signUp(), rig.signUp()]);
    const answers = await Promise.all(owners.map(({ cookie }) => link(cookie, wallet)));
    expect(answers.map(refusalOf).toSorted()).toEqual(["201", "409 IDENTITY_TAKEN"]);
  });

  test("given more than an account may have, answers 409 (rule CALLER-15)", async () => {
    const { cookie } = await rig.signUp();
    const answers = await Promise.all(
      Array.from({ length: identitiesMax + 2 }, () => link(cookie, makeWallet())),
    );
    const refused = answers.map(refusalOf).filter((answer) => answer === "409 IDENTITY_LIMIT");
    expect(refused).toHaveLength(2);
    expect(await list(cookie)).toHaveLength(identitiesMax);
  });

  test("given a nonce that is used up, or another browser's, links nothing", async () => {
    const { cookie } = await rig.signUp();
    const { browser, siwe } = await prepareSiwe(rig, makeWallet());
    const other = await askNonce(rig);
    const send = (sent: string) =>
      rig.call("POST", path, { cookie: `${cookie}; ${sent}`, body: { siwe } });
    expect(refusalOf(await send(other.browser))).toBe("401 INVALID_SIWE_MESSAGE");
    expect(await list(cookie)).toEqual([]);
    expect((await send(browser)).status).toBe(201);
    expect(refusalOf(await send(browser))).toBe("401 INVALID_SIWE_MESSAGE");
  });

  test("given nothing to link, says so", async () => {
    const { cookie } = await rig.signUp();
    const answer = await rig.call("POST", path, { cookie, body: {} });
    expect(answer.status).toBe(422);
  });
});

describe("DELETE /console/api/identities/{id}", () => {
  test("frees the address: its next sign-in opens another account", async () => {
    const { userId, cookie } = await rig.signUp();
    const wallet = makeWallet();
    await link(cookie, wallet);
    // Identities of one instant stand in any order.
    rig.clock.advance(1);
    await link(cookie, makeWallet());
    const [linked, left] = await list(cookie);
    const answer = await rig.call("DELETE", `${path}/${linked?.id}`, { cookie });
    expect(answer.status).toBe(204);
    expect(await list(cookie)).toEqual([left]);
    expect(await rig.readAudit(userId)).toContain("identity.unlinked");
    expect((await signInByWallet(rig, wallet)).userId).not.toBe(userId);
  });

  test("ends the sessions that the identity began, and leaves all others", async () => {
    const { userId, cookie } = await rig.signUp();
    const wallet = makeWallet();
    await link(cookie, wallet);
    // Identities of one instant stand in any order.
    rig.clock.advance(1);
    await link(cookie, makeWallet());
    const [linked] = await list(cookie);
    const thief = await signInByWallet(rig, wallet);
    const owner = await signInByWallet(rig, wallet);
    const sent = { cookie: owner.cookie };
    expect((await rig.call("DELETE", `${path}/${linked?.id}`, sent)).status).toBe(204);
    const alive = [cookie, thief.cookie, owner.cookie].map(
      async (each) => (await rig.call("GET", sessionPath, { cookie: each })).status,
    );
    expect(await Promise.all(alive)).toEqual([200, 401, 200]);
    expect(await rig.readAudit(userId)).toContain("session.revoked");
  });

  test("of the last way in is refused, and changes nothing (rule CALLER-22)", async () => {
    const { userId, cookie } = await signInByWallet(rig, makeWallet());
    const before = await list(cookie);
    const answer = await rig.call("DELETE", `${path}/${before[0]?.id}`, { cookie });
    expect(refusalOf(answer)).toBe("409 LAST_WAY_IN");
    expect(await list(cookie)).toEqual(before);
    expect(await rig.readAudit(userId)).not.toContain("identity.unlinked");
  });

  // It was linked while `SIGN_IN_RPC_URLS` named its chain.
  test("of the last but a contract is refused where nobody can be asked for that one", async () => {
    const { userId, cookie } = await signInByWallet(rig, makeWallet());
    const [own] = await list(cookie);
    const { issuer, method, subject } = ethereumIdentity(makeWallet().address, "8453");
    await rig.pool.query(nothing`
      INSERT INTO identities (id, account_id, method, issuer, subject, date_created)
      VALUES (${newId("idn")}, ${userId}, ${method}, ${issuer}, ${subject},
        ${sql.timestamp(rig.clock.now())})
    `);
    const answer = await rig.call("DELETE", `${path}/${own?.id}`, { cookie });
    expect(refusalOf(answer)).toBe("409 LAST_WAY_IN");
  });

  test("given another account's, one gone, or none, answers 404 and changes nothing", async () => {
    const owner = await signInByWallet(rig, makeWallet());
    const [own] = await list(owner.cookie);
    const { cookie } = await rig.signUp();
    for (const id of [own?.id, "idn_01m7y4kb9sfvktcnzb0r3g9a0s", "x", "%00"]) {
      const answer = await rig.call("DELETE", `${path}/${id}`, { cookie });
      expect(refusalOf(answer)).toBe("404 NOT_FOUND");
    }
    expect(await list(owner.cookie)).toEqual([own]);
  });
});
