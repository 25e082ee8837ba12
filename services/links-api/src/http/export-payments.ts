import type { Request, Response } from "express";
import {
  type Mode,
  OwnPaymentsFilter,
  createApiError,
  formatAmount,
} from "@payment-links/contracts";
import { type ReadPart, createCsvFormatter, parseQuery, formatPart } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
import type { Pool } from "@payment-links/postgres";
import type { Dependencies } from "../dependencies.ts";
import type { Payment } from "../domain/payment.ts";
import { type LinkCursor, findStartCursor } from "../store/link-search.ts";
import { findOwnLinkView } from "../store/link-views.ts";
import {
  type PaymentCursor,
  type FirstSeenRange,
  type ExportedLink,
  countLinkPayments,
  listPaymentsAfter,
  listPaymentsOfLinks,
  listLinksAfter,
} from "../store/own-payments.ts";

/**
 * GET /console/api/payments.csv: exports the payments on the owner's links, or on one of them (rule
 * CALLER-27).
 */
export const exportPayments =
  (dependencies: Dependencies) =>
  async (req: Request, res: Response, { account }: Caller): Promise<void> => {
    const { link: linkId, mode = "live", ...firstSeenRange } = parseQuery(req, OwnPaymentsFilter);
    const owner = { userId: account.id, mode };
    await dependencies.exports.send(req, res, account.id, async (readPart) => {
      const { header, formatRow, type } = createCsvFormat(dependencies);
      const source = { readPart, firstSeenRange, formatRow };
      const rows =
        linkId === undefined
          ? await exportAllPayments(source, owner)
          : await exportLinkPayments(source, res, { linkId, ...owner });
      const chunks = async function* () {
        yield header;
        yield* rows;
      };
      return { name: "payments.csv", type, chunks };
    });
  };

/** The account and the mode whose payments are exported. */
type Owner = { userId: string; mode: Mode };

/** Exports all payments, except those on links that are created after this call. */
const exportAllPayments = async (source: ExportSource, owner: Owner) =>
  streamAllPayments(source, owner, await source.readPart((db) => findStartCursor(db, owner)));

/**
 * Exports the payments that one link has at the time of the call, and sends their number in a
 * header.
 */
const exportLinkPayments = async (
  source: ExportSource,
  res: Response,
  { mode, ...ownedLink }: Owner & { linkId: string },
) => {
  const { readPart, firstSeenRange } = source;
  const { count, link, newest } = await readPart(async (db) => {
    const link = await findOwnLinkView(db, ownedLink);
    if (link?.mode !== mode) throw createApiError("NOT_FOUND");
    return { link, ...(await countLinkPayments(db, { ...firstSeenRange, linkId: link.id })) };
  });
  if (count !== undefined) res.setHeader("X-Total-Count", count);
  return streamLinkPayments(source, link, newest);
};

type PaidLink = Pick<ExportedLink, "id" | "description">;
type CsvRow = { payment: Payment; link: PaidLink | undefined };

const createCsvFormat = ({ catalogue }: Dependencies) =>
  createCsvFormatter<CsvRow>({
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

type ExportSource = {
  readPart: ReadPart<Pool>;
  firstSeenRange: FirstSeenRange;
  formatRow: (row: CsvRow) => string;
};

/** A chunk of this size is formatted quickly enough not to delay other requests. */
const paymentsPerChunk = 250;
/**
 * The number of links that are read in one step. It doubles up to the maximum while a step's
 * payments fit into one part.
 */
const linksPerStep = { min: 250, max: 1_000 };

async function* streamAllPayments(
  source: ExportSource,
  owner: Owner,
  start: LinkCursor | undefined,
) {
  let limit = linksPerStep.min;
  // The loop terminates, because each step contains only links that are older than the previous
  // step.
  for (let before = start; before !== undefined;) {
    const cursor = before;
    const { firstPart, links } = await source.readPart(async (db) => {
      const nextLinks = await listLinksAfter(db, { before: cursor, limit, ...owner });
      return { links: nextLinks, firstPart: await readFirstPart(db, source, nextLinks) };
    });
    const lastPayment = yield* streamPayments(source, links, firstPart);
    // If `hasMore` is true, `streamPayments` has also yielded all other payments of the last link,
    // so the next step starts after that link.
    before = firstPart.hasMore ? links.find(({ id }) => id === lastPayment?.linkId) : links.at(-1);
    limit = firstPart.hasMore ? linksPerStep.min : Math.min(2 * limit, linksPerStep.max);
  }
}

async function* streamLinkPayments(
  source: ExportSource,
  link: PaidLink,
  newest: PaymentCursor | undefined,
) {
  if (newest === undefined) return;
  const firstPart = await source.readPart((db) => readFirstPart(db, source, [link], newest));
  yield* streamPayments(source, [link], firstPart);
}

/** Some payments as CSV text, the last of these payments, and whether there can be more. */
type ExportPart = { text: string; lastPayment: Payment | undefined; hasMore: boolean };

const createPart = (
  payments: readonly Payment[],
  links: readonly PaidLink[],
  { formatRow }: ExportSource,
): ExportPart => {
  const linksById = new Map(links.map((link) => [link.id, link]));
  const { rows, text } = formatPart(payments, (payment) =>
    formatRow({ payment, link: linksById.get(payment.linkId) }),
  );
  const hasMore = rows.length < payments.length || payments.length === paymentsPerChunk;
  return { text, lastPayment: rows.at(-1), hasMore };
};

const readFirstPart = async (
  db: Pool,
  source: ExportSource,
  links: readonly PaidLink[],
  newest?: PaymentCursor,
): Promise<ExportPart> => {
  const linkIds = links.map(({ id }) => id);
  const page = { ...source.firstSeenRange, limit: paymentsPerChunk, linkIds, newest };
  return createPart(await listPaymentsOfLinks(db, page), links, source);
};

/**
 * Yields the first payments of some links. If they end in the middle of a link, also yields the
 * remaining payments of that link. Returns the last payment of the first part.
 */
async function* streamPayments(
  source: ExportSource,
  links: readonly PaidLink[],
  firstPart: ExportPart,
) {
  for (let part = firstPart; part.lastPayment !== undefined;) {
    yield part.text;
    if (!part.hasMore) break;
    const page = { ...source.firstSeenRange, last: part.lastPayment, limit: paymentsPerChunk };
    part = await source.readPart(async (db) =>
      createPart(await listPaymentsAfter(db, page), links, source),
    );
  }
  return firstPart.lastPayment;
}
