import * as z from "zod";
import { depositStatuses } from "../events.ts";
import { Mode } from "../mode.ts";
import { PageQuery, TokenData } from "../payment-link.ts";
import { body, oneOf, parameter, required } from "../validation.ts";
import { exportLimits } from "./exports.ts";
import { ModeQuery, type Operation, pageOf, wireAmount, wireInstant } from "./operation.ts";
import { PaymentData, linkIdParser } from "./payment-links.ts";

/** The decision of an owner about a deposit. */
export const depositDecisions = ["unmatched", "assigned", "dismissed"] as const;

/** Why a deposit may belong to a link. None of these reasons alone is proof (rule CALLER-29). */
export const likelyLinkReasons = ["amount", "sender", "time"] as const;

const LikelyLink = z
  .object({
    id: z.string(),
    toAmount: wireAmount,
    remainingAmount: wireAmount,
    description: z.string().nullable(),
    dateCreated: wireInstant,
    reasons: z.array(z.enum(likelyLinkReasons)).meta({
      description:
        "`amount`: equals the link's remaining amount. `sender`: another deposit of the same sender was assigned " +
        "to the link. `time`: the link was created within the day before the deposit.",
    }),
  })
  .meta({ id: "LikelyLink" });

/** A transfer to an owner's address that does not identify a link. */
export const DepositData = z
  .object({
    id: z.string(),
    mode: Mode,
    status: z.enum(depositStatuses).meta({
      description:
        "`orphaned`: no longer on its chain, for example after a reorganization. Only a settled deposit can be assigned.",
    }),
    decision: z.enum(depositDecisions),
    amount: wireAmount,
    token: TokenData.nullable(),
    lookalikeOf: z
      .string()
      .nullable()
      .meta({
        description:
          "The symbol of the token that payers confuse with this one, such as USDC for USDC.e. Links do not accept " +
          "this token, so the deposit cannot be assigned. Null for a token that links accept.",
      }),
    tokenAddress: z.string(),
    chainId: z.string(),
    destinationAddress: z.string(),
    sender: z.string().nullable(),
    sourceTransaction: z.string(),
    transactionUrl: z.string().nullable(),
    dateOnChain: wireInstant,
    dateCreated: wireInstant,
    dateDecided: wireInstant.nullable(),
    paymentLinkId: z.string().nullable(),
    paymentId: z.string().nullable(),
    countedAs: z.object({ paymentId: z.string(), paymentLinkId: z.string() }).optional().meta({
      description:
        "The payment that already represents this transfer, because a provider's notice reported it.",
    }),
    likelyLinks: z.array(LikelyLink).meta({
      description:
        "At most 3 links, the most likely first. Empty for an assigned or dismissed deposit.",
    }),
  })
  .meta({ id: "DepositData" });
export type DepositData = z.output<typeof DepositData>;

const filterFields = {
  decision: parameter(oneOf(depositDecisions)).describe(
    "Only deposits with this decision. Defaults to `unmatched`.",
  ),
};

/** The query parameters of the list of deposits. */
export const DepositsQuery = z.object({ ...filterFields, ...ModeQuery.shape, ...PageQuery.shape });

/** The query parameters of the CSV export of deposits. */
export const DepositsFilter = z.object({
  decision: parameter(oneOf(depositDecisions)).describe(
    "Only deposits with this decision. Defaults to all deposits.",
  ),
  ...ModeQuery.shape,
});

/** The request body that assigns a deposit to a link. */
export const AssignDepositBody = body({ paymentLinkId: required(linkIdParser) });

const baseOperation = {
  caller: "session",
  tag: "Payment links",
  path: "/console/api/deposits",
} as const;

/** The operations on the signed-in user's deposits. */
export const depositOperations = {
  list: {
    ...baseOperation,
    method: "get",
    operationId: "listDeposits",
    summary: "List deposits, newest first",
    description:
      "A deposit is a transfer to one of your addresses that does not name a payment link.",
    query: DepositsQuery,
    responses: { 200: pageOf(DepositData).meta({ id: "DepositPage" }) },
  },
  assign: {
    ...baseOperation,
    path: `${baseOperation.path}/:id/assign`,
    method: "post",
    operationId: "assignDeposit",
    summary: "Assign a deposit to one of your active payment links",
    description: "The deposit becomes a payment on that link.",
    body: AssignDepositBody,
    responses: {
      200: z.object({ deposit: DepositData, payment: PaymentData }).meta({ id: "AssignedDeposit" }),
    },
    errors: [
      "DEPOSIT_ALREADY_ASSIGNED",
      "DEPOSIT_ALREADY_APPLIED",
      "DEPOSIT_NOT_SETTLED",
      "DEPOSIT_ORPHANED",
      "DEPOSIT_WRONG_TOKEN",
      "DEPOSIT_WRONG_DESTINATION",
      "PAYMENT_LINK_NOT_ACTIVE",
      "NOT_FOUND",
    ],
  },
  dismiss: {
    ...baseOperation,
    path: `${baseOperation.path}/:id/dismiss`,
    method: "post",
    operationId: "dismissDeposit",
    summary: "Dismiss a deposit that is not for a payment link",
    description: "The default list no longer contains the deposit. It can still be assigned.",
    responses: { 200: DepositData },
    errors: ["DEPOSIT_ALREADY_ASSIGNED", "NOT_FOUND"],
  },
  export: {
    ...baseOperation,
    path: `${baseOperation.path}.csv`,
    method: "get",
    operationId: "exportDeposits",
    summary: "Export deposits, newest first",
    description:
      "CSV (RFC 4180) in UTF-8 with a byte order mark and a header row. A text that a spreadsheet would treat as a " +
      "formula is prefixed with an apostrophe. An aborted response lacks its end (the last chunk of HTTP/1.1), so " +
      "clients detect that it is incomplete. " +
      exportLimits,
    query: DepositsFilter,
    responses: { 200: null },
    mediaTypes: ["text/csv"],
  },
} as const satisfies Record<string, Operation>;
