import { describe, expect, test } from "@jest/globals";
import { topics } from "@payment-links/contracts";
import { presenceMsMax } from "@payment-links/identity";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { confirmationLifetimeMs, hourMs } from "../domain/email.ts";
import { createEmailRig, notificationsPath } from "../testing/create-email-rig.ts";
import { createRig, parseToken, summarizeResponse } from "../testing/create-rig.ts";
import { findConfirmationToken } from "../testing/start-smtp-server.ts";

const rig = useRig(createEmailRig);
const rigWithoutEmail = useRig(() => createRig());

const getSettings = async (cookie: string) =>
  (await rig.call("GET", notificationsPath, { cookie })).body;

/** Sets an address and returns the token that was sent to it. */
const requestToken = async (cookie: string, address: string) => {
  const response = await rig.setAddress(cookie, address);
  expect(response.status).toBe(200);
  const [email] = await rig.sendDue();
  expect(email?.to).toEqual([address]);
  return email === undefined ? "" : findConfirmationToken(email);
};

const allOn = {
  payment_received: true,
  attention_needed: true,
  endpoint_failing: true,
  new_sign_in: true,
  new_wallet: true,
};

describe("an address for notifications", () => {
  test("is pending until its link is confirmed, and each change is in the audit log without it (rule MAIL-2)", async () => {
    const { userId, cookie } = await rig.signUp();
    expect(await getSettings(cookie)).toEqual({
      isAvailable: true,
      address: null,
      pendingAddress: null,
      kinds: allOn,
    });
    const token = await requestToken(cookie, "first@example.com");
    expect(await getSettings(cookie)).toMatchObject({
      address: null,
      pendingAddress: "first@example.com",
    });
    const confirmed = await rig.confirm(cookie, token);
    expect(confirmed.body).toMatchObject({ address: "first@example.com", pendingAddress: null });
    await rig.call("DELETE", `${notificationsPath}/address`, { cookie });
    await rig.sendDue();
    expect(await getSettings(cookie)).toMatchObject({ address: null, pendingAddress: null });
    expect((await rig.readAudit(userId)).filter((action) => action.includes("email"))).toEqual([
      "account.email_requested",
      "account.email_confirmed",
      "account.email_removed",
    ]);
    const events = await rig.readEvents(userId, topics.audit);
    expect(JSON.stringify(events)).not.toContain("first@example.com");
  });

  test("gets nothing but its confirmation while it is pending, and the previous one is used (rule MAIL-2)", async () => {
    const { userId, cookie, address } = await rig.signUpWithAddress();
    await requestToken(cookie, "second@example.com");
    const { body } = await rig.call("POST", "/internal/sign-in-links", { body: { userId } });
    await rig.signIn(parseToken(body["signInUrl"]));
    const emails = await rig.sendDue();
    expect(emails.map(({ to }) => to)).toEqual([[address]]);
  });

  test("that is replaced gets one last email (rule MAIL-2)", async () => {
    const { cookie, address } = await rig.signUpWithAddress();
    const token = await requestToken(cookie, "replacement@example.com");
    expect((await rig.confirm(cookie, token)).status).toBe(200);
    const [notice, ...otherEmails] = await rig.sendDue();
    expect(notice?.to).toEqual([address]);
    expect(notice?.message).toContain("was changed or removed");
    expect(otherEmails).toEqual([]);
  });

  test("is confirmed only with the newest link, once, within 24 hours and in its own account (rule MAIL-2)", async () => {
    const invalid = "422 INVALID_CONFIRMATION_TOKEN";
    const { cookie } = await rig.signUp();
    const other = await rig.signUp();
    const oldToken = await requestToken(cookie, "third@example.com");
    const token = await requestToken(cookie, "third@example.com");
    expect(token).not.toBe(oldToken);
    expect(summarizeResponse(await rig.confirm(cookie, oldToken))).toBe(invalid);
    expect(summarizeResponse(await rig.confirm(other.cookie, token))).toBe(invalid);
    expect((await rig.confirm(cookie, token)).status).toBe(200);
    expect(summarizeResponse(await rig.confirm(cookie, token))).toBe(invalid);
  });

  test("cannot be confirmed after 24 hours (rule MAIL-2)", async () => {
    const { userId, cookie } = await rig.signUp();
    const token = await requestToken(cookie, "late@example.com");
    rig.clock.advance(confirmationLifetimeMs);
    const { body } = await rig.call("POST", "/internal/sign-in-links", { body: { userId } });
    const newCookie = await rig.signIn(parseToken(body["signInUrl"]));
    expect(summarizeResponse(await rig.confirm(newCookie, token))).toBe(
      "422 INVALID_CONFIRMATION_TOKEN",
    );
  });

  test("needs a proof of presence to be set or removed (rule CALLER-19)", async () => {
    const { cookie } = await rig.signUp();
    rig.clock.advance(presenceMsMax);
    const rejected = "401 REAUTHENTICATION_REQUIRED";
    expect(summarizeResponse(await rig.setAddress(cookie, "a@example.com"))).toBe(rejected);
    const removal = await rig.call("DELETE", `${notificationsPath}/address`, { cookie });
    expect(summarizeResponse(removal)).toBe(rejected);
  });

  test("gets at most 3 confirmation emails per day, from all accounts together (rule MAIL-2)", async () => {
    const statuses: number[] = [];
    for (const address of ["v@example.com", "V@example.com", "v@EXAMPLE.com", "v@example.com"]) {
      const { cookie } = await rig.signUp();
      statuses.push((await rig.setAddress(cookie, address)).status);
    }
    expect(statuses).toEqual([200, 200, 200, 429]);
    expect(await rig.sendDue()).toHaveLength(3);
  });

  test("can be changed 5 times per hour by an account (rule MAIL-2)", async () => {
    const { cookie } = await rig.signUp();
    const statuses: number[] = [];
    for (let count = 1; count <= 6; count += 1) {
      statuses.push((await rig.setAddress(cookie, `n${count}@example.com`)).status);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
    expect(await getSettings(cookie)).toMatchObject({ pendingAddress: "n5@example.com" });
    // Only the newest address is still pending, so the other emails are dropped.
    expect((await rig.sendDue()).map(({ to }) => to)).toEqual([["n5@example.com"]]);
    rig.clock.advance(hourMs);
  });

  test.each([
    "owner",
    "owner@localhost",
    "a@example.com,b@example.com",
    "Owner <a@example.com>",
    "a@example.com\r\nBcc: b@example.com",
    '"a b"@example.com',
    `${"a".repeat(250)}@example.com`,
  ])("is rejected if it is %j", async (address) => {
    const { cookie } = await rig.signUp();
    expect(summarizeResponse(await rig.setAddress(cookie, address))).toBe(
      "422 string_pattern_mismatch",
    );
  });
});

describe("without an SMTP server", () => {
  test("no address can be set, and the settings say so (rule MAIL-1)", async () => {
    const { cookie } = await rigWithoutEmail.signUp();
    const settings = await rigWithoutEmail.call("GET", notificationsPath, { cookie });
    expect(settings.body).toMatchObject({ isAvailable: false });
    const response = await rigWithoutEmail.call("POST", `${notificationsPath}/address`, {
      cookie,
      body: { address: "owner@example.com" },
    });
    expect(summarizeResponse(response)).toBe("404 EMAIL_UNAVAILABLE");
  });
});

describe("the kinds of notifications", () => {
  test("are on until they are switched off, one by one (rule MAIL-3)", async () => {
    const { userId, cookie } = await rig.signUp();
    const change = (body: object) => rig.call("PATCH", notificationsPath, { cookie, body });
    expect((await change({ new_sign_in: false })).body).toMatchObject({
      kinds: { ...allOn, new_sign_in: false },
    });
    expect((await change({ payment_received: false })).body).toMatchObject({
      kinds: { ...allOn, new_sign_in: false, payment_received: false },
    });
    expect((await change({ new_sign_in: true, payment_received: true })).body).toMatchObject({
      kinds: allOn,
    });
    await change({});
    expect(
      (await rig.readAudit(userId)).filter((action) => action === "account.notifications_changed"),
    ).toHaveLength(3);
  });
});
