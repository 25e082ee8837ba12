import { type Db, defineTable } from "@payment-links/postgres";
import { sql } from "slonik";
import * as z from "zod";
import {
  type Mode,
  type WebhookType,
  deliveryStatuses,
  pageSize,
  webhookTypes,
} from "@payment-links/contracts";
import {
  type DeliveryStatus,
  type DetailedDelivery,
  StoredAttempt,
  type LinkDelivery,
  type LoggedDelivery,
} from "../domain/delivery.ts";

type Fragment = ReturnType<typeof sql.fragment>;

const LoggedRow = z.object({
  id: z.string(),
  eventType: z.enum(webhookTypes),
  linkId: z.string().nullable(),
  paymentId: z.string().nullable(),
  status: z.enum(deliveryStatuses),
  attempts: z.int(),
  httpStatus: z.int().nullable(),
  error: z.string().nullable(),
  dateCreated: z.date(),
  lastAttemptAt: z.date().nullable(),
  nextAttemptAt: z.date().nullable(),
});
const loggedRow = sql.type(LoggedRow);
const detailedRow = sql.type(
  LoggedRow.extend({
    failedAttempts: z.array(StoredAttempt),
    durationMs: z.int().nullable(),
    isUnderWay: z.boolean(),
    sentBody: z.string().nullable(),
  }),
);

const linkRow = sql.type(LoggedRow.extend({ endpointId: z.string(), endpointName: z.string() }));

const { columns: pendingColumns } = defineTable(LoggedRow, {
  expressions: {
    paymentId: sql.fragment`transaction ->> 'id'`,
    status: sql.fragment`'Pending'`,
  },
});

const { columns: endedColumns } = defineTable(LoggedRow, {
  expressions: { nextAttemptAt: sql.fragment`NULL::timestamptz` },
});

/** A page of an endpoint's log. A status or type that is undefined does not filter. */
type DeliveriesPage = {
  endpointId: string;
  status?: DeliveryStatus | undefined;
  eventType?: WebhookType | undefined;
  offset: number;
};

/** Limits each part of a page to the rows that the page can need. */
const newestFirst = (offset: number): Fragment => sql.fragment`
  ORDER BY date_created DESC, id DESC LIMIT ${offset + pageSize + 1}
`;

/**
 * Lists a page of an endpoint's log, newest first, including pending deliveries. The result has one
 * extra entry if there are more.
 */
export const listDeliveries = (
  pool: Db,
  { endpointId, status: statusFilter, eventType: typeFilter, offset }: DeliveriesPage,
): Promise<readonly LoggedDelivery[]> => {
  // The index orders the entries of each status and type separately. Each combination could fill
  // the page alone, so each is read in order, as far as the page can need. A delivery keeps its
  // place when it ends.
  const pageOrder = newestFirst(offset);
  const statuses = statusFilter === undefined ? deliveryStatuses : [statusFilter];
  const types = typeFilter === undefined ? webhookTypes : [typeFilter];
  const statusQueries = statuses.flatMap((status) =>
    types.map((type): Fragment => {
      const typeCondition = sql.fragment`endpoint_id = ${endpointId} AND event_type = ${type}`;
      return status === "Pending"
        ? sql.fragment`(SELECT ${pendingColumns} FROM deliveries WHERE ${typeCondition} ${pageOrder})`
        : sql.fragment`
            (SELECT ${endedColumns} FROM delivery_log
             WHERE ${typeCondition} AND status = ${status} ${pageOrder})
          `;
    }),
  );
  return pool.any(loggedRow`
    SELECT * FROM (${sql.join(statusQueries, sql.fragment` UNION ALL `)}) AS entry
    ORDER BY "dateCreated" DESC, id DESC
    LIMIT ${pageSize + 1} OFFSET ${offset}
  `);
};

/** The owner of the link, and the page of its deliveries. */
type LinkDeliveriesPage = { userId: string; mode: Mode; linkId: string; offset: number };

/**
 * Lists a page of the deliveries of an account's link, newest first. The result has one extra entry
 * if there are more. All deliveries of a link belong to its owner and are in its mode, so the page
 * is empty for another account or mode.
 */
export const listLinkDeliveries = (
  pool: Db,
  { userId, mode, linkId, offset }: LinkDeliveriesPage,
): Promise<readonly LinkDelivery[]> =>
  pool.any(linkRow`
    SELECT entry.*, endpoints.name AS "endpointName"
    FROM (
      SELECT * FROM (
        (SELECT ${pendingColumns}, endpoint_id AS "endpointId" FROM deliveries
         WHERE link_id = ${linkId} ${newestFirst(offset)})
        UNION ALL
        (SELECT ${endedColumns}, endpoint_id FROM delivery_log
         WHERE link_id = ${linkId} ${newestFirst(offset)})
      ) AS part
      ORDER BY "dateCreated" DESC, id DESC
      LIMIT ${pageSize + 1} OFFSET ${offset}
    ) AS entry
    JOIN endpoints ON endpoints.id = entry."endpointId" AND user_id = ${userId}
      AND mode = ${mode}
    ORDER BY "dateCreated" DESC, entry.id DESC
  `);

/** Returns one entry of an endpoint's log with its attempts, or null for an unknown id. */
export const findDelivery = (
  pool: Db,
  { endpointId, id }: { endpointId: string; id: string },
): Promise<DetailedDelivery | null> => {
  const failedAttempts = sql.fragment`
    COALESCE(failed_attempts, '[]') AS "failedAttempts"
  `;
  // Without `OFFSET 0`, the planner may read the endpoint's whole log while there are few
  // statistics about the rows of a new day.
  return pool.maybeOne(detailedRow`
    (SELECT ${pendingColumns}, ${failedAttempts}, NULL::int AS "durationMs",
            lease_until IS NOT NULL AS "isUnderWay", sent_body AS "sentBody"
     FROM deliveries WHERE endpoint_id = ${endpointId} AND id = ${id})
    UNION ALL
    (SELECT ${endedColumns}, ${failedAttempts}, duration_ms, false, sent_body
     FROM (SELECT * FROM delivery_log WHERE id = ${id} OFFSET 0) AS found
     WHERE endpoint_id = ${endpointId})
    LIMIT 1
  `);
};
