import * as z from "zod";
import { TokenData } from "../payment-link.ts";
import { integer, parameter } from "../validation.ts";
import { ModeQuery, type Operation, wireAmount, wireCount } from "./operation.ts";
import { OwnPaymentData } from "./payment-links.ts";

/** The query parameters of the overview. */
export const OverviewQuery = z.object({
  days: parameter(integer({ min: 1, max: 366 })).describe(
    "The number of days, including today, in UTC. Defaults to 30.",
  ),
  ...ModeQuery.shape,
});

/** The overview counts up to this number. */
export const overviewCountMax = 10_000;

const BoundedCount = z
  .object({
    count: wireCount.max(overviewCountMax),
    hasMore: z.boolean().meta({ description: "Whether there are more than were counted." }),
  })
  .meta({ id: "BoundedCount" });

/** The number of recent payments in the overview. */
export const recentPaymentsMax = 5;

/**
 * The number of links among which the recent payments are found. Payments are indexed by link, so
 * this bounds the cost.
 */
export const paidLinksMax = 1_000;

const RecentPayment = OwnPaymentData.extend({
  description: z.string().nullable().meta({ description: "The link's description." }),
  token: TokenData.nullable().meta({ description: "Null for a token outside of the catalogue." }),
}).meta({ id: "RecentPayment" });

/**
 * The amounts that an account received, the status of its links, its newest payments, and the
 * settled payments that were not applied.
 */
export const Overview = z
  .object({
    received: z
      .array(
        z.object({
          day: z.string().meta({ format: "date", description: "The day in UTC." }),
          tokenId: z.string(),
          amount: wireAmount,
          paymentCount: wireCount,
        }),
      )
      .meta({
        description:
          "Amounts by day and token, oldest first. Omits days on which a token was not received.",
      }),
    tokens: z
      .array(z.object({ id: z.string(), token: TokenData }))
      .meta({ description: "The tokens in `received`." }),
    links: z.object({ active: BoundedCount, completed: BoundedCount, inactive: BoundedCount }),
    unapplied: BoundedCount.extend({
      payments: z.array(OwnPaymentData).meta({ description: "The newest 20 payments." }),
    }),
    recentPayments: z.array(RecentPayment).meta({
      description: `The newest ${recentPaymentsMax} payments on the account's ${paidLinksMax} newest links.`,
    }),
  })
  .meta({ id: "Overview" });
export type Overview = z.output<typeof Overview>;

/** The operation that returns the console's overview. */
export const overviewOperations = {
  get: {
    method: "get",
    path: "/console/api/overview",
    caller: "session",
    tag: "Payment links",
    operationId: "getOverview",
    summary:
      "Get received amounts by day and token, link counts by status, and the newest payments",
    query: OverviewQuery,
    responses: { 200: Overview },
  },
} as const satisfies Record<string, Operation>;
