import type { ReaderContext } from "../../../rpc/create-chain-readers.ts";
import type { Provider } from "../../../rpc/provider.ts";
import { RpcFault } from "../../../rpc/rpc-fault.ts";
import type { ChainReader, TransactionPointer } from "../../../watch/chain-reader.ts";
import type { AccountSchedule, DueAccount } from "../account-schedule.ts";
import type { SignatureInfo } from "../rpc-results.ts";
import { fetchBlocks, fetchHeaders } from "./fetch-blocks.ts";
import {
  type ReadBudget,
  type SignatureTrail,
  createSignatureTrail,
  createSignaturesRequest,
} from "./signature-trail.ts";

type PointersOptions = Pick<ReaderContext, "failover">;

/** What one read asks for and holds: more is left to the next. */
const createBudget = (): ReadBudget => ({ pageCount: 50, signatureCount: 1_000 });

/**
 * Reads what names the owners' token accounts, of those that the schedule has due. The end's block is
 * asked for before and after, and each list of a node that has come to it. In the first pass an account
 * with more signatures than fit stays due, and holds up no other. In the second the range ends earlier.
 */
export const createReadPointers = (
  { failover }: PointersOptions,
  schedule: AccountSchedule,
): ChainReader["readPointers"] => {
  const [scanTrail, auditTrail] = [createSignatureTrail(), createSignatureTrail()];
  const readDueAccounts = async (range: Range) => {
    const dueAccounts = await schedule.listDue(range);
    const result = await failover.run("signatures", (provider) =>
      readWithStableEnd(provider, range.toBlock, async () => {
        const accounts = await fetchAccounts(provider, dueAccounts, {
          toSlot: range.toBlock,
          trail: scanTrail,
          budget: createBudget(),
        });
        return { accounts, endSlot: range.toBlock };
      }),
    );
    schedule.recordReads(result.accounts, range);
    return result;
  };
  const readAllAccounts = async ({ fromBlock, toBlock }: Range) => {
    const dueAccounts = await schedule.listAll(fromBlock);
    return failover.run("signatures", (provider) =>
      readWithStableEnd(provider, toBlock, async () => {
        const accounts = await fetchAccounts(provider, dueAccounts, {
          fromSlot: fromBlock,
          toSlot: toBlock,
          trail: auditTrail,
          budget: createBudget(),
        });
        const endSlot = Math.min(toBlock, ...accounts.map(({ readTo }) => readTo));
        // The next try goes on where this one stopped.
        if (endSlot < fromBlock) throw new RpcFault("range", "an account with many transactions");
        return { accounts, endSlot };
      }),
    );
  };
  return async ({ fromBlock, toBlock, isAudit = false }) => {
    const { accounts: _, ...result } = await (isAudit ? readAllAccounts : readDueAccounts)({
      fromBlock,
      toBlock,
    });
    return result;
  };
};

type Range = { fromBlock: number; toBlock: number };

/** What was listed of an account that was due, and up to which slot. */
type ReadAccount = DueAccount & { readTo: number; signatureInfos: readonly SignatureInfo[] };

/** Reads accounts between two looks at a block: it must stand at the end as it did at the beginning. */
const readWithStableEnd = async (
  provider: Provider,
  toSlot: number,
  readAccounts: () => Promise<{ accounts: readonly ReadAccount[]; endSlot: number }>,
) => {
  const fetchEnd = async () => {
    const [header] = await fetchHeaders(provider, { fromBlock: toSlot, toBlock: toSlot });
    return header;
  };
  const endBefore = await fetchEnd();
  const { accounts, endSlot } = await readAccounts();
  const pointers = await fetchPointers(provider, accounts, endSlot);
  const endAfter = await fetchEnd();
  if (endAfter === undefined || endAfter.hash !== endBefore?.hash) {
    throw new RpcFault("behind", "the chain moved while it was read");
  }
  const [earlierEnd] =
    endSlot < toSlot ? await fetchHeaders(provider, { fromBlock: endSlot, toBlock: endSlot }) : [];
  return { pointers, endHeader: earlierEnd ?? endAfter, providerId: provider.id, accounts };
};

const firstPageMax = 50;

type AccountReadOptions = {
  fromSlot?: number;
  toSlot: number;
  trail: SignatureTrail;
  budget: ReadBudget;
};

/**
 * Lists the signatures of accounts. Most have few, and are asked for together. Those with more are read
 * from the oldest on, within a budget for all: those that are furthest behind come first.
 */
const fetchAccounts = async (
  provider: Provider,
  dueAccounts: readonly DueAccount[],
  { budget, fromSlot, toSlot, trail }: AccountReadOptions,
): Promise<readonly ReadAccount[]> => {
  const shortAccounts = dueAccounts.filter(({ account }) => !trail.has(account));
  const pages = await provider.requestMany(
    shortAccounts.map(({ account }) =>
      createSignaturesRequest(account, { limit: firstPageMax, minContextSlot: toSlot }),
    ),
  );
  const readAccounts: ReadAccount[] = [];
  for (const [index, dueAccount] of shortAccounts.entries()) {
    const page = pages[index] ?? [];
    const [newest] = page;
    const isComplete =
      page.length < firstPageMax || (page.at(-1)?.slot ?? 0) < dueAccount.sinceSlot;
    if (newest !== undefined && !isComplete) {
      trail.start(dueAccount.account, newest, dueAccount.sinceSlot);
      continue;
    }
    const signatureInfos = page
      .filter(({ slot }) => slot >= dueAccount.sinceSlot && slot <= toSlot)
      .toReversed();
    // An audit must read all of its range, and reads the transactions in parts.
    if (fromSlot === undefined && signatureInfos.length > budget.signatureCount) {
      readAccounts.push({ ...dueAccount, signatureInfos: [], readTo: dueAccount.sinceSlot - 1 });
      continue;
    }
    budget.signatureCount -= signatureInfos.length;
    readAccounts.push({ ...dueAccount, signatureInfos, readTo: toSlot });
  }
  // An audit that looks back beyond its range gives that up where there is so much.
  const longAccounts = dueAccounts
    .filter(({ account }) => trail.has(account))
    .map((dueAccount) => ({
      ...dueAccount,
      sinceSlot: Math.max(dueAccount.sinceSlot, fromSlot ?? 0),
    }))
    .sort((a, b) => a.sinceSlot - b.sinceSlot);
  let endSlot = toSlot;
  for (const dueAccount of longAccounts) {
    const result = await trail.readOldest(provider, { ...dueAccount, toSlot: endSlot }, budget);
    readAccounts.push({ ...dueAccount, ...result });
    if (fromSlot !== undefined) endSlot = Math.max(fromSlot, Math.min(endSlot, result.readTo));
  }
  return readAccounts;
};

/** The pointers of what was listed, oldest first; within a block as the account's own list has them. */
const fetchPointers = async (
  provider: Provider,
  accounts: readonly ReadAccount[],
  endSlot: number,
): Promise<readonly TransactionPointer[]> => {
  const infoBySignature = new Map<string, SignatureInfo>();
  for (const { signatureInfos } of accounts) {
    for (const info of signatureInfos) {
      // What failed moved nothing.
      if (info.isSuccessful && info.slot <= endSlot) infoBySignature.set(info.signature, info);
    }
  }
  const orderedInfos = [...infoBySignature.values()].sort((a, b) => a.slot - b.slot);
  const blocks = await fetchBlocks(
    provider,
    orderedInfos.map(({ slot }) => slot),
  );
  return orderedInfos.map(({ signature, slot, timestampSeconds }) => {
    const block = blocks.get(slot);
    if (block === undefined) throw new RpcFault("invalid", "a block was left out");
    const timestamp = timestampSeconds ?? block.timestampSeconds;
    const location = { blockNumber: slot, blockHash: block.hash };
    return { ...location, transactionHash: signature, timestampSeconds: timestamp };
  });
};
