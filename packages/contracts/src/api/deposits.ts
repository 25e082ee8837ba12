import * as z from "zod";
import { depositStatuses } from "../events.ts";
import { PageQuery, TokenData } from "../payment-link.ts";
import { body, oneOf, parameter, required } from "../validation.ts";
import { exportLimits } from "./exports.ts";
import { type Operation, pageOf, wireAmount, wireInstant } from "./operation.ts";
import { PaymentData, linkIdParser } from "./payment-links.ts";

/** The decision of an owner about a deposit. */
export const depositDecisions = ["unmatched", "assigned", "dismissed"] as const;

/** Why a deposit may belong to a link. No single reason is proof (rule CALLER-29). */
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
        "`amount`: it is just what remains. `sender`: another deposit of the same sender was assigned " +
        "to it. `time`: it was made within the day before.",
    }),
  })
  .meta({ id: "LikelyLink" });

/** A transfer to an owner's address that names no link. */
export const DepositData = z
  .object({
    id: z.string(),
    status: z.enum(depositStatuses).meta({
      description: "`orphaned`: its chain took it away. Only a settled one can be assigned.",
    }),
    decision: z.enum(depositDecisions),
    amount: wireAmount,
    token: TokenData.nullable(),
    lookalikeOf: z
      .string()
      .nullable()
      .meta({
        description:
          "The symbol of the token that this one is mistaken for, as USDC for USDC.e. Links do not take such a " +
          "token, so the deposit cannot be assigned. Null for a token that links take.",
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
        "The payment as which this money counts already, because a provider's notice reported it.",
    }),
    likelyLinks: z.array(LikelyLink).meta({
      description: "The likeliest first, at most three; none of a deposit that is decided.",
    }),
  })
  .meta({ id: "DepositData" });
export type DepositData = z.output<typeof DepositData>;

const filterFields = {
  decision: parameter(oneOf(depositDecisions)).describe(
    "Those of which this was decided; the unmatched ones where nothing is said.",
  ),
};

/** The query parameters of the list of deposits. */
export const DepositsQuery = z.object({ ...filterFields, ...PageQuery.shape });

/** The query parameters of the CSV export of deposits. */
export const DepositsFilter = z.object({
  decision: parameter(oneOf(depositDecisions)).describe(
    "Those of which this was decided; all where nothing is said.",
  ),
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
    summary: "List the deposits, money that came without naming a link, newest first",
    query: DepositsQuery,
    responses: { 200: pageOf(DepositData).meta({ id: "DepositPage" }) },
  },
  assign: {
    ...baseOperation,
    path: `${baseOperation.path}/:id/assign`,
    method: "post",
    operationId: "assignDeposit",
    summary: "Say for which own active link a deposit was: it becomes a payment of that link",
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
    summary: "Take a deposit that was for no link from the list; it can still be assigned",
    responses: { 200: DepositData },
    errors: ["DEPOSIT_ALREADY_ASSIGNED", "NOT_FOUND"],
  },
  export: {
    ...baseOperation,
    path: `${baseOperation.path}.csv`,
    method: "get",
    operationId: "exportDeposits",
    summary: "Download the deposits, newest first",
    description:
      "As CSV (RFC 4180, in UTF-8 with a byte order mark, and a header), in which a text that a spreadsheet would take for a formula has " +
      "an apostrophe before it. An answer that is cut off lacks its end (the last chunk of HTTP/1.1): it " +
      "fails where it is read. " +
      exportLimits,
    query: DepositsFilter,
    responses: { 200: null },
    mediaTypes: ["text/csv"],
  },
} as const satisfies Record<string, Operation>;
