import type { Question } from "../../../rpc/json-rpc.ts";
import type { Provider } from "../../../rpc/provider.ts";
import { RpcFault } from "../../../rpc/rpc-fault.ts";
import type { DueAccount } from "../account-schedule.ts";
import { type ListedSignature, readSignatures } from "../node-answers.ts";
import { commitment } from "./ask-blocks.ts";

/** What one read may still ask for and hold. */
export type ReadBudget = { pages: number; signatures: number };

/** An account's signatures, oldest first, and the slot up to which none is missing. */
type AccountSignatures = { listed: readonly ListedSignature[]; reachedTo: number };

/** A page of signatures: those behind one signature, which stands in that slot. */
type PageStart = { before: string; slot: number };

type Trail = {
  /** The slot from which on the pages are remembered. */
  since: number;
  /** The newest page first. */
  pages: PageStart[];
  /** The slot of the last signature of the oldest page; -1 where none is older. */
  oldestSlot: number;
};

/** An account, and the slots of which its signatures are asked for, both included. */
type AskedAccount = DueAccount & { toSlot: number };

export type SignatureTrail = {
  has(account: string): boolean;
  /** Starts a trail at an account's newest signature, to be read from a slot on. */
  start(account: string, newest: ListedSignature, since: number): void;
  /** Reads the oldest signatures from a slot on, as far as the budget goes. */
  readOldest(
    provider: Provider,
    asked: AskedAccount,
    budget: ReadBudget,
  ): Promise<AccountSignatures>;
};

const pageMax = 500;

/**
 * Lists the signatures of accounts that have more than one page of them. A node lists the newest first,
 * and anybody can add some for a fraction of a cent. So the trail remembers where each page starts, and
 * the pages are read from the oldest on, a bounded number each time. Its memory may be lost without harm.
 */
export const createSignatureTrail = (): SignatureTrail => {
  const trails = new Map<string, Trail>();

  /** Extends a trail down to a slot; returns false where the budget ends before. */
  const extend = async (
    provider: Provider,
    { account, since }: DueAccount,
    { trail, budget }: { trail: Trail; budget: ReadBudget },
  ): Promise<boolean> => {
    while (trail.oldestSlot >= since) {
      const start = trail.pages.at(-1);
      if (start === undefined || budget.pages <= 0) return false;
      budget.pages -= 1;
      const page = await askPage(provider, account, start.before);
      const last = page.at(-1);
      const isOldest = last === undefined || page.length < pageMax;
      trail.oldestSlot = isOldest ? -1 : last.slot;
      if (!isOldest) trail.pages.push({ before: last.signature, slot: last.slot });
    }
    return true;
  };

  /** Reads pages from the oldest on, whole slots, and at least one. */
  const readPages = async (
    provider: Provider,
    { account, since, toSlot }: AskedAccount,
    { trail, budget }: { trail: Trail; budget: ReadBudget },
  ): Promise<AccountSignatures> => {
    const { pages } = trail;
    const read: ListedSignature[] = [];
    let reachedTo = since - 1;
    let at = pages.findLastIndex(({ slot }) => slot >= since);
    const hasRoom = () => (budget.pages > 0 && budget.signatures > 0) || reachedTo < since;
    for (; at >= 0 && reachedTo < toSlot && hasRoom(); at -= 1) {
      const start = pages[at];
      if (start === undefined) break;
      const page = await askPage(provider, account, start.before);
      read.push(...page.toReversed());
      budget.pages -= 1;
      budget.signatures -= page.length;
      // More of the slot in which a page starts may stand in the next one.
      reachedTo = Math.max(reachedTo, Math.min(toSlot, start.slot - 1));
    }
    // The next read may begin in the slot in which the last page starts.
    pages.splice(at + 2);
    trail.since = reachedTo + 1;
    if (at < 0) trails.delete(account);
    const listed = read.filter(({ slot }) => slot >= since && slot <= reachedTo);
    return { listed, reachedTo };
  };

  return {
    has: (account) => trails.has(account),
    start: (account, { signature, slot }, since) => {
      trails.set(account, { since, pages: [{ before: signature, slot }], oldestSlot: Infinity });
    },
    readOldest: async (provider, due, budget) => {
      const { account, since } = due;
      const trail = trails.get(account);
      const nothing = { listed: [], reachedTo: since - 1 };
      // What was read may not have been committed: the older pages are not remembered any more.
      if (trail === undefined || since < trail.since) {
        trails.delete(account);
        return nothing;
      }
      try {
        const asked = { trail, budget };
        return (await extend(provider, due, asked))
          ? await readPages(provider, due, asked)
          : nothing;
      } catch (error) {
        // A fork may have taken away the signature at which a page starts.
        if (error instanceof RpcFault) trails.delete(account);
        throw error;
      }
    },
  };
};

const askPage = async (
  provider: Provider,
  account: string,
  before: string,
): Promise<readonly ListedSignature[]> => {
  const [page] = await provider.ask([signaturesQuestion(account, { limit: pageMax, before })]);
  return page;
};

/** Asks for an account's signatures, the newest first; with `before` for those behind that one. */
export const signaturesQuestion = (
  account: string,
  cut: { limit: number; before?: string; minContextSlot?: number },
): Question<readonly ListedSignature[]> => ({
  method: "getSignaturesForAddress",
  params: [account, { commitment, ...cut }],
  read: readSignatures,
});
