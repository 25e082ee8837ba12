import { expect, test } from "@jest/globals";
import * as z from "zod";
import { type OutgoingEvent, createOutgoingEvent, toOutboxRow } from "@payment-links/bus";
import {
  Decimal,
  depositUnmatched,
  endpointFailing,
  newId,
  paymentNotApplied,
  paymentReceived,
} from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { sql } from "slonik";
import { emailLifetimeMs } from "../domain/email.ts";
import { createEmailRig } from "../testing/create-email-rig.ts";

const rig = useRig(async () => {
  const startedRig = await createEmailRig();
  await startedRig.service.start();
  return startedRig;
});

const usdcOnBase = {
  chainId: "8453",
  tokenAddress: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
};

const publishEvents = (source: string, events: readonly OutgoingEvent[]) =>
  rig.bus.publish(
    events.map((event) => {
      const { id, key, occurredAt, topic, type, value } = toOutboxRow(event);
      return {
        topic,
        key,
        value,
        headers: {
          ce_specversion: "1.0",
          ce_id: id,
          ce_source: source,
          ce_type: type,
          ce_time: occurredAt,
        },
      };
    }),
  );

const createEvents = (accountId: string, occurredAt = rig.clock.now()): OutgoingEvent[] => {
  const fields = { key: accountId, occurredAt };
  const payment = { accountId, amount: new Decimal("25.5"), ...usdcOnBase };
  const link = { linkId: newId("plink"), description: "Order 1001" };
  return [
    createOutgoingEvent(paymentReceived, {
      ...fields,
      data: { ...payment, ...link, isLinkCompleted: true },
    }),
    createOutgoingEvent(paymentNotApplied, {
      ...fields,
      data: { ...payment, ...link, reason: "expired" },
    }),
    createOutgoingEvent(depositUnmatched, {
      ...fields,
      data: { ...payment, tokenAddress: "0xunknown" },
    }),
    createOutgoingEvent(endpointFailing, {
      ...fields,
      data: { accountId, endpointId: newId("whe"), name: "my shop" },
    }),
  ];
};

const listSubjects = (accountId: string) =>
  rig.pool.anyFirst(sql.type(z.object({ type: z.string() }))`
    SELECT content ->> 'type' AS type FROM emails
    WHERE account_id = ${accountId} AND kind <> 'address_confirmation' ORDER BY type
  `);

test("each notification of another service becomes one email to the owner, however often it arrives (rules EVENT-11 and MAIL-3)", async () => {
  const { userId } = await rig.signUpWithAddress();
  const events = createEvents(userId).map((event) => ({ ...event, id: newId("evt") }));
  await publishEvents("links-api", events);
  await publishEvents("links-api", events);
  expect(await listSubjects(userId)).toEqual([
    "deposit_unmatched",
    "endpoint_failing",
    "payment_not_applied",
    "payment_received",
  ]);
  await rig.sendDue();
  const text = rig.smtp.emails.map(({ message }) => message).join("\n");
  expect(text).toContain("You received 25.5 USDC on Base.");
  expect(text).toContain("because the link had expired.");
  expect(text).toContain("25.5 0xunknown");
  expect(text).toContain("my shop");
});

test("a notification that is older than a day, or about an account without an address, is ignored (rules MAIL-1 and MAIL-4)", async () => {
  const { userId } = await rig.signUpWithAddress();
  const tooOld = new Date(rig.clock.now().getTime() - emailLifetimeMs);
  await publishEvents("links-api", createEvents(userId, tooOld));
  expect(await listSubjects(userId)).toEqual([]);
  const other = await rig.signUp();
  await publishEvents("links-api", createEvents(other.userId));
  await publishEvents("links-api", createEvents(newId("user")));
  expect(await listSubjects(other.userId)).toEqual([]);
});
