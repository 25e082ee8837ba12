import * as z from "zod";
import { dateTime, parameter } from "../validation.ts";
import type { Operation } from "./operation.ts";
import { OwnLinksFilter, linkIdParser } from "./payment-links.ts";

/** The filter of the account's payments. Without parameters it matches every payment. */
export const OwnPaymentsFilter = z.object({
  link: parameter(linkIdParser).describe("The id of the one link whose payments are wanted."),
  from: parameter(dateTime).describe("The earliest time at which a payment was first seen."),
  to: parameter(dateTime).describe("The first time that is too late."),
});

/** Describes the limits of every export (rule CALLER-35). */
export const exportLimits =
  "At the limit of exports for the account, its address or the process, the response is 429 with `Retry-After`. " +
  "A reader that takes less than 8 KiB/s is cut off.";

const csvOperation = {
  method: "get",
  caller: "session",
  tag: "Payment links",
  description:
    "As CSV (RFC 4180, in UTF-8 with a byte order mark, and a header), in which a text that a spreadsheet would take for a formula has an " +
    "apostrophe before it. `X-Total-Count` tells how many rows there will be, where that is known. An " +
    "answer that is cut off lacks its end (the last chunk of HTTP/1.1): it fails where it is read. " +
    exportLimits,
  responses: { 200: null },
  mediaTypes: ["text/csv"],
} as const;

/** The exports of the signed-in user's links and payments. */
export const exportOperations = {
  links: {
    ...csvOperation,
    path: "/console/api/payment-links.csv",
    operationId: "exportOwnPaymentLinks",
    summary: "Download the own payment links, or those that are looked for, newest first",
    query: OwnLinksFilter,
  },
  payments: {
    ...csvOperation,
    path: "/console/api/payments.csv",
    operationId: "exportOwnPayments",
    summary: "Download the payments on the own payment links, link by link, newest first",
    query: OwnPaymentsFilter,
    errors: ["NOT_FOUND"],
  },
} as const satisfies Record<string, Operation>;
