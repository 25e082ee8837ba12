import type { ReaderContext } from "../../rpc/create-chain-readers.ts";
import type { Provider } from "../../rpc/provider.ts";
import { RpcFault } from "../../rpc/rpc-fault.ts";
import type { ChainReader, TransactionPointer } from "../../reads/chain-reader.ts";
import type { AccountSchedule, DueAccount } from "./account-schedule.ts";
import type { SignatureInfo } from "./rpc-results.ts";
import { fetchBlocks, fetchHeaders } from "./fetch-blocks.ts";
import {
  type ReadBudget,
  type SignatureTrail,
  createSignatureTrail,
  createSignaturesRequest,
} from "./signature-trail.ts";

/** Creates the limits of one read. The next read continues from there. */
const createBudget = (): ReadBudget => ({ pageCount: 50, signatureCount: 1_000 });

/**
 * Creates the read of transactions that involve the owners' due token accounts. It reads the end
 * block before and after, and accepts a list of signatures only from a node that has reached that
 * block. In a scan, an account with more signatures than the limit allows stays due and does not
 * delay the others. In an audit, the range ends earlier.
 */
export const createReadPointers = (
  { failover }: ReaderContext,
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
        // The next attempt continues where this one stopped.
        if (endSlot < fromBlock) throw new RpcFault("range", "an account has many transactions");
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

/** The signatures listed for a due account, and the slot up to which the account was read. */
type ReadAccount = DueAccount & { readTo: number; signatureInfos: readonly SignatureInfo[] };

/** Reads accounts between two reads of the end block. The block must be the same both times. */
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
    throw new RpcFault("behind", "the chain changed during the read");
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
 * Lists the signatures of accounts. Accounts with few signatures are requested together. The others
 * share a limit. They are read from their oldest unread signature on, starting with the account
 * that is furthest behind.
 */
const fetchAccounts = async (
  provider: Provider,
  dueAccounts: readonly DueAccount[],
  { budget, fromSlot, toSlot, trail }: AccountReadOptions,
): Promise<readonly ReadAccount[]> => {
  const shortAccounts = dueAccounts.filter(({ account }) => !trail.has(account));
  const pages = await provider.request(
    shortAccounts.map(({ account }) =>
      createSignaturesRequest(account, { limit: firstPageMax, minContextSlot: toSlot }),
    ),
    { inParts: true },
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
    // A scan may leave an account for later. An audit must read its whole range, so it reads the
    // transactions in parts instead.
    if (fromSlot === undefined && signatureInfos.length > budget.signatureCount) {
      readAccounts.push({ ...dueAccount, signatureInfos: [], readTo: dueAccount.sinceSlot - 1 });
      continue;
    }
    budget.signatureCount -= signatureInfos.length;
    readAccounts.push({ ...dueAccount, signatureInfos, readTo: toSlot });
  }
  // For accounts with this many signatures, an audit does not read slots before its range.
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

/**
 * Returns pointers to the listed signatures, oldest first. Signatures in the same block keep the
 * order of the account's list.
 */
const fetchPointers = async (
  provider: Provider,
  accounts: readonly ReadAccount[],
  endSlot: number,
): Promise<readonly TransactionPointer[]> => {
  const infoBySignature = new Map<string, SignatureInfo>();
  for (const { signatureInfos } of accounts) {
    for (const info of signatureInfos) {
      // A failed transaction transfers nothing.
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
    if (block === undefined) throw new RpcFault("invalid", "a block is missing");
    const timestamp = timestampSeconds ?? block.timestampSeconds;
    const location = { blockNumber: slot, blockHash: block.hash };
    return { ...location, transactionHash: signature, timestampSeconds: timestamp };
  });
};
