import type { RpcRequest } from "../../../rpc/json-rpc.ts";
import type { Provider } from "../../../rpc/provider.ts";
import { RpcFault } from "../../../rpc/rpc-fault.ts";
import type { DueAccount } from "../account-schedule.ts";
import { type SignatureInfo, parseSignatureInfos } from "../rpc-results.ts";
import { commitment } from "./fetch-blocks.ts";

/** What one read may still ask for and hold. */
export type ReadBudget = { pageCount: number; signatureCount: number };

/** An account's signatures, oldest first, and the slot up to which none is missing. */
type AccountSignatures = { signatureInfos: readonly SignatureInfo[]; readTo: number };

/** A page of signatures: those behind one signature, which stands in that slot. */
type PageStart = { beforeSignature: string; slot: number };

type Trail = {
  /** The slot from which on the pages are remembered. */
  sinceSlot: number;
  /** The newest page first. */
  pages: PageStart[];
  /** The slot of the last signature of the oldest page; -1 where none is older. */
  oldestSlot: number;
};

/** An account, and the slots of which its signatures are asked for, both included. */
type AccountRange = DueAccount & { toSlot: number };

export type SignatureTrail = {
  has(account: string): boolean;
  /** Starts a trail at an account's newest signature, to be read from a slot on. */
  start(account: string, newest: SignatureInfo, sinceSlot: number): void;
  /** Reads the oldest signatures from a slot on, as far as the budget goes. */
  readOldest(
    provider: Provider,
    accountRange: AccountRange,
    budget: ReadBudget,
  ): Promise<AccountSignatures>;
};

const pageSizeMax = 500;

/**
 * Lists the signatures of accounts that have more than one page of them. A node lists the newest first,
 * and anybody can add some for a fraction of a cent. So the trail remembers where each page starts, and
 * the pages are read from the oldest on, a bounded number each time. Its memory may be lost without harm.
 */
export const createSignatureTrail = (): SignatureTrail => {
  const trails = new Map<string, Trail>();

  /** Reads pages from the oldest on, whole slots, and at least one. */
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
      // More of the slot in which a page starts may stand in the next one.
      readTo = Math.max(readTo, Math.min(toSlot, pageStart.slot - 1));
    }
    // The next read may begin in the slot in which the last page starts.
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
      // What was read may not have been committed: the older pages are not remembered any more.
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
        // A fork may have taken away the signature at which a page starts.
        if (error instanceof RpcFault) trails.delete(account);
        throw error;
      }
    },
  };
};

/** Extends a trail down to a slot; returns false where the budget ends before. */
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

/** Asks for an account's signatures, the newest first; with `before` for those behind that one. */
export const createSignaturesRequest = (
  account: string,
  options: { limit: number; before?: string; minContextSlot?: number },
): RpcRequest<readonly SignatureInfo[]> => ({
  method: "getSignaturesForAddress",
  params: [account, { commitment, ...options }],
  parseResult: parseSignatureInfos,
});
