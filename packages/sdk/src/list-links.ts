import type { CallOptions } from "./call-options.ts";
import type { PaymentLinkData, PaymentLinkPage, PaymentLinksFilter } from "./shapes.ts";

/** The links that changed since an instant, the latest change first. */
export type PaymentLinkChanges = AsyncIterable<PaymentLinkData> & {
  /**
   * The `since` of the next run. Undefined until a loop has read all links. Store it after you have
   * handled the last one.
   */
  readonly nextSince: string | undefined;
};

type ListPage = (filter: PaymentLinksFilter, options: CallOptions) => Promise<PaymentLinkPage>;
type Filter = Omit<PaymentLinksFilter, "offset">;

/** More links than can be created between two page requests. */
const seenIdsMax = 10_000;
/** Before the first link of any installation. */
const beforeAllLinks = "1970-01-01T00:00:00.000Z";

/** Yields every link of a list once. */
export const eachLink = async function* (
  listPage: ListPage,
  filter: Filter = {},
  options: CallOptions = {},
  onPage: (page: PaymentLinkPage) => void = () => {},
): AsyncGenerator<PaymentLinkData, void, undefined> {
  const seenIds = new Set<string>();
  for (let offset: number | null = 0; offset !== null;) {
    const page: PaymentLinkPage = await listPage({ ...filter, offset }, options);
    onPage(page);
    for (const link of page.data) {
      if (seenIds.has(link.id)) continue;
      seenIds.add(link.id);
      yield link;
    }
    for (const id of seenIds) {
      if (seenIds.size <= seenIdsMax) break;
      seenIds.delete(id);
    }
    offset = page.nextOffset;
  }
};

/** Lists the links that changed since an instant. Without one, lists all links. */
export const listChanges = (
  listPage: ListPage,
  since: string | Date | null | undefined,
  options: CallOptions,
): PaymentLinkChanges => {
  const updatedAfter = toInstant(since);
  let nextSince: string | undefined;
  return {
    get nextSince() {
      return nextSince;
    },
    async *[Symbol.asyncIterator]() {
      let nextUpdatedAfter: string | undefined;
      yield* eachLink(listPage, { updatedAfter }, options, (page) => {
        // Only the first page has it. A later instant would miss the changes during this run.
        nextUpdatedAfter ??= page.nextUpdatedAfter;
        if (nextUpdatedAfter === undefined)
          throw new Error("This service does not support `updatedAfter` yet. Update it.");
      });
      nextSince = nextUpdatedAfter;
    },
  };
};

const toInstant = (since: string | Date | null | undefined): string => {
  if (since === null || since === undefined) return beforeAllLinks;
  const instant = new Date(since);
  if (Number.isNaN(instant.getTime())) {
    throw new TypeError("since must be a date, such as the nextSince of the previous run");
  }
  return instant.toISOString();
};
