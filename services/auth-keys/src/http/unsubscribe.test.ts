import { describe, expect, test } from "@jest/globals";
import * as z from "zod";
import { sql } from "slonik";
import { type NotificationKind, newId, topics } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { emailsPerHourMax, hourMs, unsubscribeLifetimeMs } from "../domain/email.ts";
import { deleteExpiredRows } from "../jobs/delete-expired-rows.ts";
import { queueNotification } from "../store/emails.ts";
import { createEmailRig, notificationsPath } from "../testing/create-email-rig.ts";
import { createRig, parseToken, summarizeResponse } from "../testing/create-rig.ts";
import {
  type ReceivedEmail,
  findConfirmationToken,
  findUnsubscribePath,
} from "../testing/start-smtp-server.ts";

const rig = useRig(createEmailRig);
const limitedRig = useRig(() => createRig({ ipBurst: 2 }));

const queuePayment = (accountId: string) =>
  rig.pool.transaction((tx) => {
    const content = {
      type: "payment_received",
      amount: "25",
      token: "USDC",
      chain: "Base",
      linkId: "plink_1",
      description: null,
      isLinkCompleted: false,
    } as const;
    const notification = {
      id: newId("evt"),
      accountId,
      kind: "payment_received",
      content,
    } as const;
    return queueNotification(tx, notification, rig.clock.now());
  });

/** Creates an account with a confirmed address and returns an email about a payment to it. */
const receiveEmail = async () => {
  const account = await rig.signUpWithAddress();
  await queuePayment(account.userId);
  const [email] = await rig.sendDue();
  if (email === undefined) throw new Error("no email was sent");
  return { ...account, email, path: findUnsubscribePath(email) };
};

const oneClickBody = "List-Unsubscribe=One-Click";

/** Sends a request like a mail program: without a session, as a form. */
const request = async (method: string, path: string, headers: Record<string, string> = {}) => {
  const response = await fetch(`${rig.publicUrl}${path}`, {
    method,
    redirect: "manual",
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
    ...(method === "POST" ? { body: oneClickBody } : {}),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
};

const listDisabledKinds = async (accountId: string): Promise<readonly string[]> =>
  (await rig.pool.maybeOneFirst(sql.type(z.object({ kinds: z.array(z.string()) }))`
    SELECT disabled_kinds AS kinds FROM notification_settings WHERE account_id = ${accountId}
  `)) ?? [];

describe("an unsubscribe link", () => {
  test("is in both headers of an email and in its text, and one POST without a session switches its kind off (rule MAIL-7)", async () => {
    const { userId, email, path } = await receiveEmail();
    expect(email.headers.get("list-unsubscribe-post")).toBe(oneClickBody);
    expect(email.message).toContain(`Unsubscribe: ${rig.context.baseUrl}${path}`);
    const response = await request("POST", path);
    expect(response.status).toBe(200);
    expect(response.text).toContain("<li>Payments received</li>");
    expect(await listDisabledKinds(userId)).toEqual(["payment_received"]);
    await queuePayment(userId);
    expect(await rig.sendDue()).toEqual([]);
  });

  test("works for a mail program on another site, with any type of form (rule MAIL-7)", async () => {
    for (const type of ["application/x-www-form-urlencoded", "multipart/form-data; boundary=b"]) {
      const { userId, path } = await receiveEmail();
      const { status } = await request("POST", path, {
        "content-type": type,
        "sec-fetch-site": "cross-site",
        origin: "https://mail.example",
      });
      expect(status).toBe(200);
      expect(await listDisabledKinds(userId)).toEqual(["payment_received"]);
    }
  });

  test("shows a page with a button to a person, also after sign-out, and changes nothing before the click (rule MAIL-7)", async () => {
    const { userId, cookie, path } = await receiveEmail();
    await rig.call("DELETE", "/console/api/session", { cookie });
    for (const method of ["GET", "HEAD", "OPTIONS"]) await request(method, path);
    const page = await request("GET", path, { "accept-language": "de" });
    expect(page.status).toBe(200);
    expect(page.text).toContain('<form method="post">');
    expect(page.text).toContain("<li>Erhaltene Zahlungen</li>");
    expect(page.headers.get("referrer-policy")).toBe("no-referrer");
    expect(page.headers.get("cache-control")).toBe("no-store");
    expect(await listDisabledKinds(userId)).toEqual([]);
  });

  test("can be used several times, and the audit log shows one change by a visitor (rule MAIL-7)", async () => {
    const { userId, path } = await receiveEmail();
    const responses = await Promise.all([1, 2, 3].map(() => request("POST", path)));
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
    const events = await rig.readEvents(userId, topics.audit);
    const changes = events.filter(({ data }) => data.action === "account.notifications_changed");
    expect(changes).toMatchObject([
      { data: { actor: { kind: "visitor" }, detail: { disabledKinds: ["payment_received"] } } },
    ]);
  });

  test("changes no other kind (rule MAIL-7)", async () => {
    const { userId, cookie, path } = await receiveEmail();
    await rig.call("PATCH", notificationsPath, { cookie, body: { new_wallet: false } });
    await request("POST", path);
    expect(await listDisabledKinds(userId)).toEqual(["payment_received", "new_wallet"]);
  });

  test("of a summary switches off the kinds that it counts (rule MAIL-7)", async () => {
    const { userId } = await rig.signUpWithAddress();
    rig.clock.advance(hourMs - (rig.clock.now().getTime() % hourMs));
    for (let count = 0; count <= emailsPerHourMax; count += 1) await queuePayment(userId);
    await rig.sendDue();
    rig.clock.advance(hourMs + 60_000);
    const [summary] = await rig.sendDue();
    expect(summary?.message).toContain("Payments received: 1");
    await request("POST", findUnsubscribePath(summary as ReceivedEmail));
    expect(await listDisabledKinds(userId)).toEqual(["payment_received"]);
  });

  test("stops working after 60 days and is deleted (rule MAIL-7)", async () => {
    const { userId, path } = await receiveEmail();
    rig.clock.advance(unsubscribeLifetimeMs);
    expect((await request("POST", path)).status).toBe(404);
    expect(await listDisabledKinds(userId)).toEqual([]);
    await deleteExpiredRows(rig.context).run();
    expect(await countTokens(userId)).toBe(0);
  });

  test.each([
    ["is removed", "DELETE"],
    ["is replaced", "POST"],
  ])("stops working when the address that got it %s (rule MAIL-7)", async (_name, method) => {
    const { userId, cookie, path } = await receiveEmail();
    if (method === "DELETE") await rig.call("DELETE", `${notificationsPath}/address`, { cookie });
    else {
      await rig.setAddress(cookie, `new-${userId}@example.com`);
      const [confirmation] = await rig.sendDue();
      await rig.confirm(cookie, findConfirmationToken(confirmation as ReceivedEmail));
    }
    // The notice to the former address.
    expect(await rig.sendDue()).toHaveLength(1);
    expect((await request("POST", path)).status).toBe(404);
    expect(await listDisabledKinds(userId)).toEqual([]);
    expect(await countTokens(userId)).toBe(0);
  });

  test("works for a suspended account (rule MAIL-7)", async () => {
    const { userId, path } = await receiveEmail();
    await rig.call("POST", "/internal/accounts/suspend", { body: { userId } });
    expect((await request("POST", path)).status).toBe(200);
    expect(await listDisabledKinds(userId)).toEqual(["payment_received"]);
  });
});

const countTokens = (accountId: string) =>
  rig.pool.oneFirst(sql.type(z.object({ count: z.int() }))`
    SELECT count(*)::int AS count FROM unsubscribe_tokens WHERE account_id = ${accountId}
  `);

describe("a token in the path", () => {
  const prefix = "/console/api/unsubscribe/";

  const oddTokens: readonly [name: string, path: (token: string) => string, status: number][] = [
    ["is unknown", () => "A".repeat(43), 404],
    ["is cut", (token) => token.slice(0, -1), 404],
    ["has one more character", (token) => `${token}A`, 404],
    ["has another case", (token) => token.toLowerCase(), 404],
    ["ends with a space", (token) => `${token}%20`, 404],
    ["contains NUL", (token) => `${token}%00`, 404],
    ["is followed by another segment", (token) => `${token}/x`, 404],
    ["is not valid UTF-8", (token) => `${token}%ff`, 404],
    ["is 8 KiB long", (token) => token.repeat(200), 404],
    ["is only a quote", () => "'", 404],
    ["is missing", () => "", 404],
  ];
  test.each(oddTokens)("unsubscribes from nothing if it %s (rule MAIL-7)", async (...oddCase) => {
    const [, buildToken, expectedStatus] = oddCase;
    const { userId, path } = await receiveEmail();
    const oddPath = `${prefix}${buildToken(path.slice(prefix.length))}`;
    for (const method of ["GET", "POST"]) {
      expect([method, (await request(method, oddPath)).status]).toEqual([method, expectedStatus]);
    }
    expect(await listDisabledKinds(userId)).toEqual([]);
  });

  test("of another purpose unsubscribes from nothing, and this one is for nothing else (rule MAIL-7)", async () => {
    const { userId, cookie, path } = await receiveEmail();
    const token = path.slice(prefix.length);
    const created = await rig.call("POST", "/internal/sign-in-links", { body: { userId } });
    const signInToken = parseToken(created.body["signInUrl"]);
    await rig.setAddress(cookie, `other-${userId}@example.com`);
    const [confirmation] = await rig.sendDue();
    const confirmationToken = findConfirmationToken(confirmation as ReceivedEmail);
    const sessionToken = /(?<==)[^;]+/.exec(cookie)?.[0] ?? "";
    for (const otherToken of [signInToken, confirmationToken, sessionToken]) {
      expect((await request("POST", `${prefix}${otherToken}`)).status).toBe(404);
    }
    const signIn = await rig.call("POST", "/console/api/session", { body: { token } });
    expect(summarizeResponse(signIn)).toBe("401 INVALID_SIGN_IN_TOKEN");
    expect(summarizeResponse(await rig.confirm(cookie, token))).toBe(
      "422 INVALID_CONFIRMATION_TOKEN",
    );
    const cookieNames = ["session", "__Secure-session", "__Host-session"];
    const forgedCookie = cookieNames.map((name) => `${name}=${token}`).join("; ");
    const settings = await rig.call("GET", notificationsPath, { cookie: forgedCookie });
    expect(summarizeResponse(settings)).toBe("401 UNAUTHENTICATED");
  });

  test("is in no table, log line, metric or audit event (rules KEEP-7 and MAIL-7)", async () => {
    const { path } = await receiveEmail();
    const token = path.slice(prefix.length);
    await request("GET", path);
    await request("POST", path);
    await request("POST", `${path}x`);
    const stored = await rig.pool.oneFirst(
      sql.type(z.object({ text: z.string() }))`
        SELECT schema_to_xml('auth_keys', true, false, '')::text AS text
      `,
    );
    const everything = [stored, rig.logLines.join(""), await rig.metrics.metrics()].join("\n");
    expect(stored).toContain("unsubscribe_tokens");
    expect(everything).not.toContain(token);
    expect(everything).not.toContain(Buffer.from(token, "base64url").toString("base64"));
    expect(everything).not.toContain(Buffer.from(token, "base64url").toString("hex"));
  });

  test("is limited per source address (rule API-21)", async () => {
    const statuses: number[] = [];
    for (let count = 1; count <= 3; count += 1) {
      const { status } = await limitedRig.call("POST", `${prefix}unknown`);
      statuses.push(status);
    }
    expect(statuses).toEqual([404, 404, 429]);
  });
});

test("every kind of email unsubscribes from its own kind (rule MAIL-7)", async () => {
  const { userId, cookie } = await rig.signUpWithAddress();
  const { body } = await rig.call("POST", "/internal/sign-in-links", { body: { userId } });
  await rig.signIn(parseToken(body["signInUrl"]));
  const wallet = {
    walletAddress: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    tokenId: "usdc-base",
  };
  await rig.call("POST", "/console/api/wallets", { cookie, body: wallet });
  const kinds: NotificationKind[] = ["new_sign_in", "new_wallet"];
  const emails = await rig.sendDue();
  expect(emails).toHaveLength(kinds.length);
  for (const email of emails) await request("POST", findUnsubscribePath(email));
  expect(await listDisabledKinds(userId)).toEqual(kinds);
});
