import { describe, expect, test } from "@jest/globals";
import { sql } from "slonik";
import { newId } from "@payment-links/contracts";
import { sqlVoid } from "@payment-links/postgres";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { toEthereumIdentity, identitiesMax } from "../domain/identity.ts";
import { createRig, summarizeResponse } from "../testing/create-rig.ts";
import {
  fetchNonce,
  createWallet,
  prepareSiwe,
  type TestWallet,
  signInWithWallet,
} from "../testing/siwe.ts";

const path = "/console/api/identities";
const sessionPath = "/console/api/session";

const rig = useRig(createRig);

/** Links a wallet from a session, as a tab of that browser would. */
const linkWallet = async (cookie: string, wallet: TestWallet) => {
  const { browserCookie, siwe } = await prepareSiwe(rig, wallet);
  return rig.call("POST", path, { cookie: `${cookie}; ${browserCookie}`, body: { siwe } });
};

const listIdentities = async (cookie: string) => {
  const { body } = await rig.call("GET", path, { cookie });
  return body["data"] as { id: string; subject: string }[];
};

describe("POST /console/api/identities", () => {
  test("links an Ethereum address, which can sign in to this account from then on", async () => {
    const { userId, cookie } = await rig.signUp();
    const wallet = createWallet();
    const response = await linkWallet(cookie, wallet);
    expect([response.status, response.body]).toEqual([
      201,
      {
        id: expect.stringMatching(/^idn_/),
        method: "siwe",
        issuer: "eip155",
        subject: wallet.address,
        dateCreated: rig.clock.now().toISOString(),
      },
    ]);
    expect(await listIdentities(cookie)).toEqual([response.body]);
    expect((await signInWithWallet(rig, wallet)).userId).toBe(userId);
    expect(await rig.readAudit(userId)).toContain("identity.linked");
    // A sign-in method is not part of the account that other services store.
    expect(await rig.readEvents(userId)).toHaveLength(1);
  });

  test("returns an identity that is already linked to this account unchanged", async () => {
    const { userId, cookie } = await rig.signUp();
    const wallet = createWallet();
    const first = await linkWallet(cookie, wallet);
    const secondResponse = await linkWallet(cookie, wallet);
    expect([secondResponse.status, secondResponse.body]).toEqual([200, first.body]);
    const actions = await rig.readAudit(userId);
    expect(actions.filter((action) => action === "identity.linked")).toHaveLength(1);
  });

  test("responds 409 for another account's identity, which stays linked there", async () => {
    const wallet = createWallet();
    const owner = await signInWithWallet(rig, wallet);
    const { cookie } = await rig.signUp();
    expect(summarizeResponse(await linkWallet(cookie, wallet))).toBe("409 IDENTITY_TAKEN");
    expect(await listIdentities(cookie)).toEqual([]);
    expect((await signInWithWallet(rig, wallet)).userId).toBe(owner.userId);
  });

  test("links an address to exactly one of two accounts that request it concurrently", async () => {
    const wallet = createWallet();
    const owners = await Promise.all([rig.signUp(), rig.signUp()]);
    const responses = await Promise.all(owners.map(({ cookie }) => linkWallet(cookie, wallet)));
    expect(responses.map(summarizeResponse).toSorted()).toEqual(["201", "409 IDENTITY_TAKEN"]);
  });

  test("responds 409 above the limit per account (rule CALLER-15)", async () => {
    const { cookie } = await rig.signUp();
    const responses = await Promise.all(
      Array.from({ length: identitiesMax + 2 }, () => linkWallet(cookie, createWallet())),
    );
    const rejected = responses
      .map(summarizeResponse)
      .filter((response) => response === "409 IDENTITY_LIMIT");
    expect(rejected).toHaveLength(2);
    expect(await listIdentities(cookie)).toHaveLength(identitiesMax);
  });

  test("rejects a nonce that was used or belongs to another browser", async () => {
    const { cookie } = await rig.signUp();
    const { browserCookie, siwe } = await prepareSiwe(rig, createWallet());
    const otherNonce = await fetchNonce(rig);
    const sendWithBrowser = (browserCookie: string) =>
      rig.call("POST", path, { cookie: `${cookie}; ${browserCookie}`, body: { siwe } });
    expect(summarizeResponse(await sendWithBrowser(otherNonce.browserCookie))).toBe(
      "401 INVALID_SIWE_MESSAGE",
    );
    expect(await listIdentities(cookie)).toEqual([]);
    expect((await sendWithBrowser(browserCookie)).status).toBe(201);
    expect(summarizeResponse(await sendWithBrowser(browserCookie))).toBe(
      "401 INVALID_SIWE_MESSAGE",
    );
  });

  test("responds 422 to an empty object", async () => {
    const { cookie } = await rig.signUp();
    const response = await rig.call("POST", path, { cookie, body: {} });
    expect(response.status).toBe(422);
  });
});

describe("DELETE /console/api/identities/{id}", () => {
  test("frees the address, whose next sign-in creates another account", async () => {
    const { userId, cookie } = await rig.signUp();
    const wallet = createWallet();
    await linkWallet(cookie, wallet);
    // Identities with the same creation time have no defined order.
    rig.clock.advance(1);
    await linkWallet(cookie, createWallet());
    const [linkedIdentity, remainingIdentity] = await listIdentities(cookie);
    const response = await rig.call("DELETE", `${path}/${linkedIdentity?.id}`, { cookie });
    expect(response.status).toBe(204);
    expect(await listIdentities(cookie)).toEqual([remainingIdentity]);
    expect(await rig.readAudit(userId)).toContain("identity.unlinked");
    expect((await signInWithWallet(rig, wallet)).userId).not.toBe(userId);
  });

  test("ends other sessions that this identity started, and keeps the rest", async () => {
    const { userId, cookie } = await rig.signUp();
    const wallet = createWallet();
    await linkWallet(cookie, wallet);
    // Identities with the same creation time have no defined order.
    rig.clock.advance(1);
    await linkWallet(cookie, createWallet());
    const [linkedIdentity] = await listIdentities(cookie);
    const otherSession = await signInWithWallet(rig, wallet);
    const owner = await signInWithWallet(rig, wallet);
    const options = { cookie: owner.cookie };
    expect((await rig.call("DELETE", `${path}/${linkedIdentity?.id}`, options)).status).toBe(204);
    const statuses = [cookie, otherSession.cookie, owner.cookie].map(
      async (sessionCookie) =>
        (await rig.call("GET", sessionPath, { cookie: sessionCookie })).status,
    );
    expect(await Promise.all(statuses)).toEqual([200, 401, 200]);
    expect(await rig.readAudit(userId)).toContain("session.revoked");
  });

  test("rejects the removal of the last sign-in method without any change (rule CALLER-22)", async () => {
    const { userId, cookie } = await signInWithWallet(rig, createWallet());
    const identitiesBefore = await listIdentities(cookie);
    const response = await rig.call("DELETE", `${path}/${identitiesBefore[0]?.id}`, { cookie });
    expect(summarizeResponse(response)).toBe("409 LAST_WAY_IN");
    expect(await listIdentities(cookie)).toEqual(identitiesBefore);
    expect(await rig.readAudit(userId)).not.toContain("identity.unlinked");
  });

  // The contract was linked while `SIGN_IN_RPC_URLS` named its chain.
  test("does not count a contract's identity as a sign-in method if its chain has no RPC provider", async () => {
    const { userId, cookie } = await signInWithWallet(rig, createWallet());
    const [ownIdentity] = await listIdentities(cookie);
    const { issuer, method, subject } = toEthereumIdentity(createWallet().address, "8453");
    await rig.pool.query(sqlVoid`
      INSERT INTO identities (id, account_id, method, issuer, subject, date_created)
      VALUES (${newId("idn")}, ${userId}, ${method}, ${issuer}, ${subject},
        ${sql.timestamp(rig.clock.now())})
    `);
    const response = await rig.call("DELETE", `${path}/${ownIdentity?.id}`, { cookie });
    expect(summarizeResponse(response)).toBe("409 LAST_WAY_IN");
  });

  test("responds 404 for another account's, a deleted or an invalid id, without any change", async () => {
    const owner = await signInWithWallet(rig, createWallet());
    const [ownIdentity] = await listIdentities(owner.cookie);
    const { cookie } = await rig.signUp();
    for (const id of [ownIdentity?.id, "idn_01m7y4kb9sfvktcnzb0r3g9a0s", "x", "%00"]) {
      const response = await rig.call("DELETE", `${path}/${id}`, { cookie });
      expect(summarizeResponse(response)).toBe("404 NOT_FOUND");
    }
    expect(await listIdentities(owner.cookie)).toEqual([ownIdentity]);
  });
});
