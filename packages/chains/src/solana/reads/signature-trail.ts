import type { RpcRequest } from "../../rpc/json-rpc.ts";
import type { Provider } from "../../rpc/provider.ts";
import { RpcFault } from "../../rpc/rpc-fault.ts";
import type { DueAccount } from "./account-schedule.ts";
import { type SignatureInfo, parseSignatureInfos } from "./rpc-results.ts";
import { commitment } from "./fetch-blocks.ts";

/** The numbers of pages and signatures that one read may still request. */
export type ReadBudget = { pageCount: number; signatureCount: number };

/** The signatures of an account, oldest first. The list is complete up to the slot `readTo`. */
type AccountSignatures = { signatureInfos: readonly SignatureInfo[]; readTo: number };

/**
 * The start of a page, whose signatures are older than `beforeSignature`. That signature is in
 * `slot`.
 */
type PageStart = { beforeSignature: string; slot: number };

type Trail = {
  /** The first slot that the stored pages cover. */
  sinceSlot: number;
  /** The newest page comes first. */
  pages: PageStart[];
  /** The slot of the last signature on the oldest page, or -1 if there are no older signatures. */
  oldestSlot: number;
};

/** An account, and the range of slots whose signatures are requested. Both ends are inclusive. */
type AccountRange = DueAccount & { toSlot: number };

export type SignatureTrail = {
  has(account: string): boolean;
  /** Starts a trail at an account's newest signature. Signatures are read from `sinceSlot` on. */
  start(account: string, newest: SignatureInfo, sinceSlot: number): void;
  /** Reads the oldest signatures from a slot on, as far as the budget allows. */
  readOldest(
    provider: Provider,
    accountRange: AccountRange,
    budget: ReadBudget,
  ): Promise<AccountSignatures>;
};

const pageSizeMax = 500;

/**
 * Creates the trail for accounts whose signatures fill more than one page. A node lists the newest
 * signatures first, and anyone can add more for a fraction of a cent. The trail stores where each
 * page starts, so each call can read a limited number of pages, oldest first. This state can be
 * lost without harm.
 */
export const createSignatureTrail = (): SignatureTrail => {
  const trails = new Map<string, Trail>();

  /** Reads complete slots, oldest page first. Reads at least one page. */
  const readPages = async (
    provider: Provider,
    { account, sinceSlot, toSlot }: AccountRange,
    { trail, budget }: { trail: Trail; budget: ReadBudget },
  ): Promise<AccountSignatures> => {
    const { pages } = trail;
    const readInfos: SignatureInfo[] = [];
    let readTo = sinceSlot - 1;
    let pageIndex = pages.findLastIndex(({ slot }) => slot >= sinceSlot);
    const hasBudget = () =>
      (budget.pageCount > 0 && budget.signatureCount > 0) || readTo < sinceSlot;
    for (; pageIndex >= 0 && readTo < toSlot && hasBudget(); pageIndex -= 1) {
      const pageStart = pages[pageIndex];
      if (pageStart === undefined) break;
      const page = await fetchPage(provider, account, pageStart.beforeSignature);
      readInfos.push(...page.toReversed());
      budget.pageCount -= 1;
      budget.signatureCount -= page.length;
      // The next page may contain more signatures of the slot in which this page starts.
      readTo = Math.max(readTo, Math.min(toSlot, pageStart.slot - 1));
    }
    // The next read may start in the slot in which the last page starts.
    pages.splice(pageIndex + 2);
    trail.sinceSlot = readTo + 1;
    if (pageIndex < 0) trails.delete(account);
    const signatureInfos = readInfos.filter(({ slot }) => slot >= sinceSlot && slot <= readTo);
    return { signatureInfos, readTo };
  };

  return {
    has: (account) => trails.has(account),
    start: (account, { signature, slot }, sinceSlot) => {
      trails.set(account, {
        sinceSlot,
        pages: [{ beforeSignature: signature, slot }],
        oldestSlot: Infinity,
      });
    },
    readOldest: async (provider, accountRange, budget) => {
      const { account, sinceSlot } = accountRange;
      const trail = trails.get(account);
      const emptyResult = { signatureInfos: [], readTo: sinceSlot - 1 };
      // The results of earlier reads may not have been committed, and the pages that they used are
      // no longer stored. The trail must be rebuilt.
      if (trail === undefined || sinceSlot < trail.sinceSlot) {
        trails.delete(account);
        return emptyResult;
      }
      try {
        const trailOptions = { trail, budget };
        return (await extendTrail(provider, accountRange, trailOptions))
          ? await readPages(provider, accountRange, trailOptions)
          : emptyResult;
      } catch (error) {
        // A fork may have orphaned the signature at which a page starts.
        if (error instanceof RpcFault) trails.delete(account);
        throw error;
      }
    },
  };
};

/** Extends a trail back to a slot. Returns false if the budget runs out first. */
const extendTrail = async (
  provider: Provider,
  { account, sinceSlot }: DueAccount,
  { trail, budget }: { trail: Trail; budget: ReadBudget },
): Promise<boolean> => {
  while (trail.oldestSlot >= sinceSlot) {
    const pageStart = trail.pages.at(-1);
    if (pageStart === undefined || budget.pageCount <= 0) return false;
    budget.pageCount -= 1;
    const page = await fetchPage(provider, account, pageStart.beforeSignature);
    const lastInfo = page.at(-1);
    const isOldestPage = lastInfo === undefined || page.length < pageSizeMax;
    trail.oldestSlot = isOldestPage ? -1 : lastInfo.slot;
    if (!isOldestPage)
      trail.pages.push({ beforeSignature: lastInfo.signature, slot: lastInfo.slot });
  }
  return true;
};

const fetchPage = async (
  provider: Provider,
  account: string,
  beforeSignature: string,
): Promise<readonly SignatureInfo[]> => {
  const [page] = await provider.request([
    createSignaturesRequest(account, { limit: pageSizeMax, before: beforeSignature }),
  ]);
  return page;
};

/**
 * Requests an account's signatures, newest first. With `before`, requests only signatures that are
 * older than that one.
 */
export const createSignaturesRequest = (
  account: string,
  options: { limit: number; before?: string; minContextSlot?: number },
): RpcRequest<readonly SignatureInfo[]> => ({
  method: "getSignaturesForAddress",
  params: [account, { commitment, ...options }],
  parseResult: parseSignatureInfos,
});
