import type { Request, Response } from "express";
import { OwnPaymentsFilter, formatAmount, refuse } from "@payment-links/contracts";
import { type ReadPart, csvForm, readQuery, writePart } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Pool } from "@payment-links/postgres";
import type { Deps } from "../deps.ts";
import type { Payment } from "../domain/payment.ts";
import { type LinkPlace, findStart } from "../store/link-search.ts";
import { findOwnLinkView } from "../store/link-views.ts";
import {
  type PaymentPlace,
  type SeenBetween,
  type WalkedLink,
  countPaymentsOf,
  listPaymentsBehind,
  listPaymentsOf,
  walkLinks,
} from "../store/own-payments.ts";

/** GET /console/api/payments.csv: the payments on the owner's links, or on one (rule CALLER-27). */
export const exportPayments =
  (deps: Deps) =>
  async (req: Request, res: Response, { account }: Caller): Promise<void> => {
    const { link: linkId, ...seen } = readQuery(req, OwnPaymentsFilter);
    await deps.exports.send(req, res, account.id, async (readPart) => {
      const { header, lineOf, type } = formOf(deps);
      const source = { readPart, seen, lineOf };
      const rows =
        linkId === undefined
          ? await rowsOfAll(source, account.id)
          : await rowsOfOne(source, res, { linkId, userId: account.id });
      const chunks = async function* () {
        yield header;
        yield* rows;
      };
      return { name: "payments.csv", type, chunks };
    });
  };

/** All payments, none of them on a link that is made after this. */
const rowsOfAll = async (source: Source, userId: string) =>
  chunksOfAll(source, userId, await source.readPart((db) => findStart(db, userId)));

/** The payments of one link that are there now, which are counted. */
const rowsOfOne = async (
  source: Source,
  res: Response,
  wanted: { linkId: string; userId: string },
) => {
  const { readPart, seen } = source;
  const { count, link, newest } = await readPart(async (db) => {
    const link = await findOwnLinkView(db, wanted);
    if (link === undefined) throw refuse("NOT_FOUND");
    return { link, ...(await countPaymentsOf(db, { ...seen, linkId: link.id })) };
  });
  if (count !== undefined) res.setHeader("X-Total-Count", count);
  return chunksOfOne(source, link, newest);
};

type PaidLink = Pick<WalkedLink, "id" | "description">;
type Row = { payment: Payment; link: PaidLink | undefined };

const formOf = ({ catalogue }: Deps) =>
  csvForm<Row>({
    id: ({ payment }) => payment.id,
    paymentLinkId: ({ payment }) => payment.linkId,
    dateCreated: ({ payment }) => payment.firstSeenAt.toISOString(),
    dateOnChain: ({ payment }) => payment.occurredAt.toISOString(),
    dateEnded: ({ payment }) => (payment.endedAt ?? payment.appliedAt)?.toISOString() ?? null,
    status: ({ payment }) => payment.status,
    applied: ({ payment }) => String(payment.isApplied),
    reason: ({ payment }) => payment.reason,
    orphaned: ({ payment }) => String(payment.isOrphaned),
    amount: ({ payment }) => formatAmount(payment.amount),
    token: ({ payment: { chainId, tokenAddress } }) =>
      catalogue.findTokenByAddress(chainId, tokenAddress)?.symbol ?? null,
    chainId: ({ payment }) => payment.chainId,
    tokenAddress: ({ payment }) => payment.tokenAddress,
    destinationAddress: ({ payment }) => payment.destinationAddress,
    sourceTransaction: ({ payment }) => payment.sourceTransaction,
    description: ({ link }) => link?.description ?? null,
  });

type Source = {
  readPart: ReadPart<Pool>;
  seen: SeenBetween;
  lineOf: (row: Row) => string;
};

/** Few enough that writing them keeps nobody else waiting. */
const paymentsAtOnce = 250;
/** Links are walked over in larger steps while they have few payments. */
const linksAtOnce = { min: 250, max: 1_000 };

async function* chunksOfAll(source: Source, userId: string, start: LinkPlace | undefined) {
  let limit = linksAtOnce.min;
  // The loop ends, as each step holds only links older than those before.
  for (let before = start; before !== undefined;) {
    const place = before;
    const { first, links } = await source.readPart(async (db) => {
      const walked = await walkLinks(db, { before: place, limit, userId });
      return { links: walked, first: await readFirst(db, source, walked) };
    });
    const last = yield* chunksOf(source, links, first);
    // Then it ended with the whole of one link, and the next step begins behind that one.
    before = first.hasMore ? links.find(({ id }) => id === last?.linkId) : links.at(-1);
    limit = first.hasMore ? linksAtOnce.min : Math.min(2 * limit, linksAtOnce.max);
  }
}

async function* chunksOfOne(source: Source, link: PaidLink, newest: PaymentPlace | undefined) {
  if (newest === undefined) return;
  const first = await source.readPart((db) => readFirst(db, source, [link], newest));
  yield* chunksOf(source, [link], first);
}

/** Payments that are written, the last of them, and whether more may follow. */
type Part = { text: string; last: Payment | undefined; hasMore: boolean };

const partOf = (
  payments: readonly Payment[],
  links: readonly PaidLink[],
  { lineOf }: Source,
): Part => {
  const linkOf = new Map(links.map((link) => [link.id, link]));
  const { rows, text } = writePart(payments, (payment) =>
    lineOf({ payment, link: linkOf.get(payment.linkId) }),
  );
  const hasMore = rows.length < payments.length || payments.length === paymentsAtOnce;
  return { text, last: rows.at(-1), hasMore };
};

const readFirst = async (
  db: Pool,
  source: Source,
  links: readonly PaidLink[],
  newest?: PaymentPlace,
): Promise<Part> => {
  const linkIds = links.map(({ id }) => id);
  const page = { ...source.seen, limit: paymentsAtOnce, linkIds, newest };
  return partOf(await listPaymentsOf(db, page), links, source);
};

/**
 * Writes the first payments of links, and whatever more the last of these links has. Returns the last
 * payment of the first part.
 */
async function* chunksOf(source: Source, links: readonly PaidLink[], first: Part) {
  for (let part = first; part.last !== undefined;) {
    yield part.text;
    if (!part.hasMore) break;
    const behind = { ...source.seen, last: part.last, limit: paymentsAtOnce };
    part = await source.readPart(async (db) =>
      partOf(await listPaymentsBehind(db, behind), links, source),
    );
  }
  return first.last;
}
