import { describe, expect, test } from "@jest/globals";
import * as z from "zod";
import { sql } from "slonik";
import { newId } from "@payment-links/contracts";
import { sqlVoid } from "@payment-links/postgres";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import {
  type EmailContent,
  emailLifetimeMs,
  emailRetentionMs,
  emailsPerHourMax,
  hourMs,
} from "../domain/email.ts";
import { claimEmails, queueNotification } from "../store/emails.ts";
import { createEmailRig, notificationsPath } from "../testing/create-email-rig.ts";
import { parseToken } from "../testing/create-rig.ts";
import { deleteExpiredRows } from "./delete-expired-rows.ts";

const rig = useRig(createEmailRig);

const content: EmailContent = {
  type: "payment_received",
  amount: "25",
  token: "USDC",
  chain: "Base",
  linkId: "plink_1",
  description: "Order 1001",
  isLinkCompleted: false,
};

const queuePayment = async (accountId: string, id = newId("evt")): Promise<string> => {
  const notification = { id, accountId, kind: "payment_received", content } as const;
  await rig.pool.transaction((tx) => queueNotification(tx, notification, rig.clock.now()));
  return id;
};

const Row = z.object({ status: z.string(), attempts: z.int() });
const readRow = (id: string) =>
  rig.pool.maybeOne(sql.type(Row)`SELECT status, attempts FROM emails WHERE id = ${id}`);

const wallet = {
  walletAddress: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
  tokenId: "usdc-base",
};

const signInAgain = async (userId: string): Promise<void> => {
  const { body } = await rig.call("POST", "/internal/sign-in-links", { body: { userId } });
  await rig.signIn(parseToken(body["signInUrl"]));
};

describe("an owner with a confirmed address", () => {
  test("gets an email about a new sign-in and a new wallet (rule MAIL-3)", async () => {
    const { userId, cookie, address } = await rig.signUpWithAddress();
    await signInAgain(userId);
    const created = await rig.call("POST", "/console/api/wallets", { cookie, body: wallet });
    expect(created.status).toBe(201);
    const emails = await rig.sendDue();
    expect(emails.map(({ to }) => to)).toEqual([[address], [address]]);
    const text = emails.map(({ message }) => message).join("\n");
    expect(text).toContain("signed in to your account with a sign-in link");
    expect(text).toContain(wallet.walletAddress);
  });

  test("gets no email about a kind that is off, even if it is already queued (rule MAIL-3)", async () => {
    const { userId, cookie } = await rig.signUpWithAddress();
    const queuedId = await queuePayment(userId);
    await rig.call("PATCH", notificationsPath, { cookie, body: { payment_received: false } });
    const laterId = await queuePayment(userId);
    expect(await rig.sendDue()).toEqual([]);
    expect(await readRow(queuedId)).toMatchObject({ status: "dropped" });
    expect(await readRow(laterId)).toBeNull();
  });

  test("gets one last email after the address was removed (rules MAIL-1 and MAIL-2)", async () => {
    const { userId, cookie, address } = await rig.signUpWithAddress();
    await queuePayment(userId);
    await rig.call("DELETE", `${notificationsPath}/address`, { cookie });
    const [notice, ...otherEmails] = await rig.sendDue();
    expect(notice?.to).toEqual([address]);
    expect(notice?.message).toContain("This is the last email to this address.");
    expect(otherEmails).toEqual([]);
  });

  test("gets one email for an event that arrives several times (rule MAIL-4)", async () => {
    const { userId } = await rig.signUpWithAddress();
    const id = await queuePayment(userId);
    await queuePayment(userId, id);
    expect(await rig.sendDue()).toHaveLength(1);
    await queuePayment(userId, id);
    expect(await rig.sendDue()).toEqual([]);
  });
});

describe("an email that cannot be sent", () => {
  test("is sent again later under the same Message-ID (rule MAIL-4)", async () => {
    const { userId } = await rig.signUpWithAddress();
    const id = await queuePayment(userId);
    rig.smtp.rejection.reply = { code: 451, text: "try again later" };
    expect(await rig.sendDue()).toEqual([]);
    expect(await readRow(id)).toEqual({ status: "pending", attempts: 1 });
    rig.smtp.rejection.reply = undefined;
    rig.clock.advance(59_999);
    expect(await rig.sendDue()).toEqual([]);
    rig.clock.advance(1);
    const [email] = await rig.sendDue();
    expect(email?.headers.get("message-id")).toBe(`<${id}@shop.example>`);
    expect(await readRow(id)).toEqual({ status: "sent", attempts: 2 });
  });

  test("is given up and counted after 7 attempts within a day (rule MAIL-4)", async () => {
    const { userId } = await rig.signUpWithAddress();
    const id = await queuePayment(userId);
    const givenUpBefore = await rig.countOutcome("given_up");
    rig.smtp.rejection.reply = { code: 451, text: "try again later" };
    const start = rig.clock.now().getTime();
    while ((await readRow(id))?.status === "pending") {
      await rig.sendDue();
      rig.clock.advance(300_000);
    }
    rig.smtp.rejection.reply = undefined;
    expect(await readRow(id)).toEqual({ status: "given_up", attempts: 7 });
    expect(rig.clock.now().getTime() - start).toBeLessThan(emailLifetimeMs);
    expect(await rig.countOutcome("given_up")).toBe(givenUpBefore + 1);
    rig.clock.advance(hourMs);
    expect(await rig.sendDue()).toEqual([]);
  });

  test("is given up immediately if the recipient does not exist (rule MAIL-4)", async () => {
    const { userId } = await rig.signUpWithAddress();
    const id = await queuePayment(userId);
    rig.smtp.rejection.reply = { code: 550, text: "no such mailbox" };
    await rig.sendDue();
    rig.smtp.rejection.reply = undefined;
    expect(await readRow(id)).toEqual({ status: "given_up", attempts: 1 });
  });

  test("does not delay other emails, even if its row cannot be read", async () => {
    const { userId } = await rig.signUpWithAddress();
    const unreadableId = await queuePayment(userId);
    await rig.pool.query(sqlVoid`
      UPDATE emails SET content = '{"type":"unknown"}' WHERE id = ${unreadableId}
    `);
    const id = await queuePayment(userId);
    expect(await rig.sendDue()).toHaveLength(1);
    expect(await readRow(id)).toMatchObject({ status: "sent" });
    expect(await readRow(unreadableId)).toEqual({ status: "pending", attempts: 1 });
    await rig.pool.query(sqlVoid`DELETE FROM emails WHERE id = ${unreadableId}`);
  });

  test("appears in the log without its recipient and text (rule MAIL-6)", async () => {
    const { userId, address } = await rig.signUpWithAddress();
    await queuePayment(userId);
    rig.smtp.rejection.reply = { code: 550, text: `unknown mailbox ${address}` };
    await rig.sendDue();
    rig.smtp.rejection.reply = undefined;
    const log = rig.logLines.join("");
    expect(log).toContain("email could not be sent");
    expect(log).not.toContain(address);
    expect(log).not.toContain("Order 1001");
  });
});

describe("a process that dies", () => {
  test("before it records a result loses no email: another attempt follows (rule MAIL-4)", async () => {
    const { userId } = await rig.signUpWithAddress();
    const id = await queuePayment(userId);
    const now = rig.clock.now();
    const leaseUntil = new Date(now.getTime() + 60_000);
    const claimed = await claimEmails(rig.pool, { now, leaseUntil, rowsMax: 10 });
    expect(claimed.map((email) => email.id)).toContain(id);
    expect(await rig.sendDue()).toEqual([]);
    rig.clock.advance(60_000);
    expect(await rig.sendDue()).toHaveLength(1);
  });

  test("at every attempt does not repeat its email forever (rule MAIL-4)", async () => {
    const { userId } = await rig.signUpWithAddress();
    const id = await queuePayment(userId);
    for (let deaths = 1; deaths <= 7; deaths += 1) {
      const now = rig.clock.now();
      await claimEmails(rig.pool, { now, leaseUntil: now, rowsMax: 10 });
    }
    expect(await rig.sendDue()).toEqual([]);
    expect(await readRow(id)).toMatchObject({ status: "given_up" });
  });
});

test("two processes do not send the same email (rule MAIL-4)", async () => {
  const { userId } = await rig.signUpWithAddress();
  for (let count = 1; count <= 8; count += 1) await queuePayment(userId);
  const receivedBefore = rig.smtp.emails.length;
  await Promise.all([rig.job.run(), rig.job.run(), rig.job.run()]);
  await rig.sendDue();
  const ids = rig.smtp.emails.slice(receivedBefore).map(({ headers }) => headers.get("message-id"));
  expect(ids).toHaveLength(8);
  expect(new Set(ids).size).toBe(8);
});

test("a flood of payments becomes 10 emails and one summary, and does not hide a sign-in (rule MAIL-5)", async () => {
  const { userId } = await rig.signUpWithAddress();
  rig.clock.advance(hourMs - (rig.clock.now().getTime() % hourMs));
  for (let count = 1; count <= emailsPerHourMax + 15; count += 1) await queuePayment(userId);
  await signInAgain(userId);
  const emails = await rig.sendDue();
  expect(emails).toHaveLength(emailsPerHourMax + 1);
  expect(emails.filter(({ message }) => message.includes("signed in"))).toHaveLength(1);
  rig.clock.advance(hourMs);
  expect(await rig.sendDue()).toEqual([]);
  rig.clock.advance(60_000);
  const [summary, ...others] = await rig.sendDue();
  expect(summary?.message).toContain("Payments received: 15");
  expect(others).toEqual([]);
  await queuePayment(userId);
  expect(await rig.sendDue()).toHaveLength(1);
});

test("old emails are deleted (rule MAIL-4)", async () => {
  const { userId } = await rig.signUpWithAddress();
  const id = await queuePayment(userId);
  await rig.sendDue();
  rig.clock.advance(emailRetentionMs);
  await deleteExpiredRows(rig.context).run();
  expect(await readRow(id)).not.toBeNull();
  rig.clock.advance(1);
  await deleteExpiredRows(rig.context).run();
  expect(await readRow(id)).toBeNull();
});
