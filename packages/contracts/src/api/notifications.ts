import * as z from "zod";
import { emailAddressPattern, isEmailAddress } from "../email-address.ts";
import { body, bool, formattedText, optional, required, text } from "../validation.ts";
import type { Operation } from "./operation.ts";

const emailAddress = formattedText(
  { format: "email", maxLength: 254, pattern: emailAddressPattern.source },
  isEmailAddress,
);

/** The request body for a new address. Nothing else is sent to it until it is confirmed. */
export const NotificationAddressBody = body({
  address: required(emailAddress),
}).meta({ id: "NotificationAddress" });

/** The request body that confirms an address, with the token from the email. */
export const ConfirmAddressBody = body({
  token: required(text({ lengthMin: 1, lengthMax: 100 })),
}).meta({ id: "NotificationAddressConfirmation" });

/** The kinds of notifications to switch on or off. Omitted kinds do not change. */
export const NotificationsChange = body({
  payment_received: optional(bool),
  attention_needed: optional(bool),
  endpoint_failing: optional(bool),
  new_sign_in: optional(bool),
  new_wallet: optional(bool),
}).meta({ id: "NotificationsChange" });

/** An account's email notifications, as its owner sees them. */
export const NotificationSettingsData = z
  .object({
    isAvailable: z.boolean().meta({
      description: "Whether this installation sends email.",
    }),
    address: z.string().nullable().meta({
      description: "The confirmed address, which receives the notifications.",
    }),
    pendingAddress: z.string().nullable().meta({
      description: "A new address whose confirmation is pending.",
    }),
    kinds: z
      .object({
        payment_received: z.boolean(),
        attention_needed: z.boolean(),
        endpoint_failing: z.boolean(),
        new_sign_in: z.boolean(),
        new_wallet: z.boolean(),
      })
      .meta({ description: "The kinds of notifications that are on." }),
  })
  .meta({ id: "NotificationSettings" });
export type NotificationSettingsData = z.output<typeof NotificationSettingsData>;

const baseOperation = {
  path: "/console/api/account/notifications",
  caller: "session",
  tag: "Account",
  responses: { 200: NotificationSettingsData },
} as const;
const addressOperation = {
  ...baseOperation,
  path: "/console/api/account/notifications/address",
} as const;

/** The operations on the signed-in user's email notifications. */
export const notificationOperations = {
  get: {
    ...baseOperation,
    method: "get",
    operationId: "getNotifications",
    summary: "Get your email notification settings",
  },
  change: {
    ...baseOperation,
    method: "patch",
    operationId: "changeNotifications",
    summary: "Switch kinds of email notifications on or off",
    body: NotificationsChange,
  },
  setAddress: {
    ...addressOperation,
    method: "post",
    needsPresence: true,
    operationId: "setNotificationAddress",
    summary: "Set the address for email notifications",
    description:
      "Sends an email with a confirmation link, which is valid for 24 hours. The previous address is used until then.",
    body: NotificationAddressBody,
    errors: ["EMAIL_UNAVAILABLE"],
  },
  confirmAddress: {
    ...addressOperation,
    path: "/console/api/account/notifications/address/confirm",
    method: "post",
    operationId: "confirmNotificationAddress",
    summary: "Confirm the address for email notifications",
    body: ConfirmAddressBody,
    errors: ["INVALID_CONFIRMATION_TOKEN"],
  },
  removeAddress: {
    ...addressOperation,
    method: "delete",
    needsPresence: true,
    operationId: "removeNotificationAddress",
    summary: "Remove the address and a pending one",
  },
} as const satisfies Record<string, Operation>;
