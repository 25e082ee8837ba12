import * as z from "zod";
import { Id } from "./ids.ts";
import { Amount } from "./money.ts";

/** What an owner can be notified about by email. */
export const notificationKinds = [
  "payment_received",
  "attention_needed",
  "endpoint_failing",
  "new_sign_in",
  "new_wallet",
] as const;
export type NotificationKind = (typeof notificationKinds)[number];

/** An amount with its token, as an email shows it. */
const receivedFields = {
  accountId: Id,
  amount: Amount,
  chainId: z.string(),
  tokenAddress: z.string(),
};

const linkFields = { linkId: Id, description: z.string().nullable() };

/** A payment that was credited to a link. */
export const ReceivedPayment = z.object({
  ...receivedFields,
  ...linkFields,
  isLinkCompleted: z.boolean(),
});

/** A settled payment that is not credited, with the reason. */
export const UnappliedPayment = z.object({
  ...receivedFields,
  ...linkFields,
  reason: z.string(),
});

/** A settled deposit that no link has been chosen for. */
export const UnmatchedDeposit = z.object(receivedFields);

/** A webhook endpoint whose last attempt failed after a success, or that never succeeded. */
export const FailingEndpoint = z.object({ accountId: Id, endpointId: Id, name: z.string() });
