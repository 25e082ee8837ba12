import * as z from "zod";
import { dateTime, parameter } from "../validation.ts";
import { ModeQuery, type Operation } from "./operation.ts";
import { OwnLinksFilter, linkIdParser } from "./payment-links.ts";

/** The filter of the account's payments. Without parameters it matches every live payment. */
export const OwnPaymentsFilter = z.object({
  link: parameter(linkIdParser).describe("Only payments on this link."),
  from: parameter(dateTime).describe("Only payments first seen at or after this time."),
  to: parameter(dateTime).describe("Only payments first seen before this time."),
  ...ModeQuery.shape,
});

/** Describes the limits of every export (rule CALLER-35). */
export const exportLimits =
  "If too many exports run for the account, the client's IP address or the process, the response is 429 " +
  "with `Retry-After`. A client that reads less than 8 KiB/s is disconnected.";

const csvOperation = {
  method: "get",
  caller: "session",
  tag: "Payment links",
  description:
    "CSV (RFC 4180) in UTF-8 with a byte order mark and a header row. A text that a spreadsheet would treat as a " +
    "formula is prefixed with an apostrophe. `X-Total-Count` is the number of rows, if it is known. An aborted " +
    "response lacks its end (the last chunk of HTTP/1.1), so clients detect that it is incomplete. " +
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
    summary: "Export your payment links, optionally filtered, newest first",
    query: OwnLinksFilter,
  },
  payments: {
    ...csvOperation,
    path: "/console/api/payments.csv",
    operationId: "exportOwnPayments",
    summary: "Export the payments on your payment links, grouped by link, newest first",
    query: OwnPaymentsFilter,
    errors: ["NOT_FOUND"],
  },
} as const satisfies Record<string, Operation>;
