import type { Request, Response } from "express";
import { OwnPaymentsFilter, formatAmount, refuse } from "@payment-links/contracts";
import { type ReadPart, answerFile, csvForm, readQuery } from "@payment-links/http";
import type { Caller } from "@payment-links/identity";
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
    const userId = account.id;
    const link =
      linkId === undefined ? undefined : await findOwnLinkView(deps.pool, { linkId, userId });
    if (linkId !== undefined && link === undefined) throw refuse("NOT_FOUND");
    await deps.exports.make(res, userId, async (readPart) => {
      const { header, lineOf, type } = formOf(deps);
      const source = { deps, readPart, seen, lineOf };
      const rows =
        link === undefined ? await rowsOfAll(source, userId) : await rowsOfOne(source, res, link);
      const chunks = async function* () {
        yield header;
        yield* rows;
      };
      return answerFile(req, res, { name: "payments.csv", type, chunks });
    });
  };

/** All payments, none of them on a link that is made after this. */
const rowsOfAll = async (source: Source, userId: string) =>
  chunksOfAll(source, userId, await findStart(source.deps.pool, userId));

/** The payments of one link that are there now, which are counted. */
const rowsOfOne = async (source: Source, res: Response, link: PaidLink) => {
  const { deps, readPart, seen } = source;
  const { count, newest } = await readPart(() =>
    countPaymentsOf(deps.pool, { ...seen, linkId: link.id }),
  );
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
  deps: Deps;
  readPart: ReadPart;
  seen: SeenBetween;
  lineOf: (row: Row) => string;
};

/** Few enough that writing them keeps nobody else waiting. */
const paymentsAtOnce = 250;
/** Links are walked over in larger steps while they have few payments. */
const linksAtOnce = { min: 250, max: 1_000 };

async function* chunksOfAll(source: Source, userId: string, start: LinkPlace | undefined) {
  const { pool } = source.deps;
  let limit = linksAtOnce.min;
  // The loop ends, as each step holds only links older than those before.
  for (let before = start; before !== undefined;) {
    const place = before;
    const { links, payments } = await source.readPart(async () => {
      const walked = await walkLinks(pool, { before: place, limit, userId });
      return { links: walked, payments: await listFirst(source, walked) };
    });
    yield* chunksOf(source, links, payments);
    const isCut = payments.length === paymentsAtOnce;
    // Then it ended with the whole of one link, and the next step begins behind that one.
    before = isCut ? links.find(({ id }) => id === payments.at(-1)?.linkId) : links.at(-1);
    limit = isCut ? linksAtOnce.min : Math.min(2 * limit, linksAtOnce.max);
  }
}

async function* chunksOfOne(source: Source, link: PaidLink, newest: PaymentPlace | undefined) {
  if (newest === undefined) return;
  yield* chunksOf(source, [link], await source.readPart(() => listFirst(source, [link], newest)));
}

const listFirst = (
  { deps: { pool }, seen }: Source,
  links: readonly PaidLink[],
  newest?: PaymentPlace,
) => {
  const linkIds = links.map(({ id }) => id);
  return listPaymentsOf(pool, { ...seen, limit: paymentsAtOnce, linkIds, newest });
};

/** Writes the first payments of links, and whatever more the last of these links has. */
async function* chunksOf(
  { deps: { pool }, lineOf, readPart, seen }: Source,
  links: readonly PaidLink[],
  first: readonly Payment[],
) {
  const linkOf = new Map(links.map((link) => [link.id, link]));
  for (let payments = first; payments.length > 0;) {
    yield payments.map((payment) => lineOf({ payment, link: linkOf.get(payment.linkId) })).join("");
    const last = payments.length === paymentsAtOnce ? payments.at(-1) : undefined;
    if (last === undefined) return;
    const behind = { ...seen, last, limit: paymentsAtOnce };
    payments = await readPart(() => listPaymentsBehind(pool, behind));
  }
}
