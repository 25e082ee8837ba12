import * as z from "zod";
import { TokenData } from "../payment-link.ts";
import { integer, parameter } from "../validation.ts";
import { type Operation, wireAmount, wireCount } from "./operation.ts";
import { OwnPaymentData } from "./payment-links.ts";

/** The query parameters of the overview. */
export const OverviewQuery = z.object({
  days: parameter(integer({ min: 1, max: 366 })).describe(
    "How many days, today in UTC among them; 30 where nothing is said.",
  ),
});

/** The overview counts up to this number. */
export const overviewCountMax = 10_000;

const BoundedCount = z
  .object({
    count: wireCount.max(overviewCountMax),
    hasMore: z.boolean().meta({ description: "There are more; it was counted no further." }),
  })
  .meta({ id: "BoundedCount" });

/**
 * What an account received, the status of its links, and the settled payments that were not
 * applied.
 */
export const Overview = z
  .object({
    received: z
      .array(
        z.object({
          day: z.string().meta({ format: "date", description: "In UTC." }),
          tokenId: z.string(),
          amount: wireAmount,
          paymentCount: wireCount,
        }),
      )
      .meta({
        description: "By day and token, the oldest first. Where nothing came, there is none.",
      }),
    tokens: z
      .array(z.object({ id: z.string(), token: TokenData }))
      .meta({ description: "The tokens of `received`." }),
    links: z.object({ active: BoundedCount, completed: BoundedCount, inactive: BoundedCount }),
    unapplied: BoundedCount.extend({
      payments: z.array(OwnPaymentData).meta({ description: "The newest 20." }),
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
      "Get what came in by day and token, the links by state, and the newest unapplied payments",
    query: OverviewQuery,
    responses: { 200: Overview },
  },
} as const satisfies Record<string, Operation>;
