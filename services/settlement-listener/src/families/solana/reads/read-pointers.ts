import type { ReaderGround } from "../../../rpc/open-chain-readers.ts";
import type { Provider } from "../../../rpc/provider.ts";
import { RpcFault } from "../../../rpc/rpc-fault.ts";
import type { ChainReader, Pointer } from "../../../watch/chain-reader.ts";
import type { AccountSchedule, DueAccount } from "../account-schedule.ts";
import type { ListedSignature } from "../node-answers.ts";
import { askBlocks, askHeaders } from "./ask-blocks.ts";
import {
  type ReadBudget,
  type SignatureTrail,
  createSignatureTrail,
  signaturesQuestion,
} from "./signature-trail.ts";

type PointersOptions = Pick<ReaderGround, "turn">;

/** What one read asks for and holds: more is left to the next. */
const newBudget = (): ReadBudget => ({ pages: 50, signatures: 1_000 });

/**
 * Reads what names the owners' token accounts, of those that the schedule has due. The end's block is
 * asked for before and after, and each list of a node that has come to it. In the first pass an account
 * with more signatures than fit stays due, and holds up no other. In the second the range ends earlier.
 */
export const createReadPointers = (
  { turn }: PointersOptions,
  schedule: AccountSchedule,
): ChainReader["readPointers"] => {
  const [firstTrail, auditTrail] = [createSignatureTrail(), createSignatureTrail()];
  const readDue = async (range: Range) => {
    const due = await schedule.listDue(range);
    const read = await turn.ask("signatures", (provider) =>
      askStanding(provider, range.toBlock, async () => {
        const accounts = await askAccounts(provider, due, {
          toSlot: range.toBlock,
          trail: firstTrail,
          budget: newBudget(),
        });
        return { accounts, endSlot: range.toBlock };
      }),
    );
    schedule.asked(read.accounts, range);
    return read;
  };
  const readAll = async ({ fromBlock, toBlock }: Range) => {
    const due = await schedule.listAll(fromBlock);
    return turn.ask("signatures", (provider) =>
      askStanding(provider, toBlock, async () => {
        const accounts = await askAccounts(provider, due, {
          fromSlot: fromBlock,
          toSlot: toBlock,
          trail: auditTrail,
          budget: newBudget(),
        });
        const endSlot = Math.min(toBlock, ...accounts.map(({ reachedTo }) => reachedTo));
        // The next try goes on where this one stopped.
        if (endSlot < fromBlock) throw new RpcFault("range", "an account with many transactions");
        return { accounts, endSlot };
      }),
    );
  };
  return async ({ fromBlock, toBlock, isAgain = false }) => {
    const { accounts: _, ...read } = await (isAgain ? readAll : readDue)({ fromBlock, toBlock });
    return read;
  };
};

type Range = { fromBlock: number; toBlock: number };

/** What was listed of an account that was due, and up to which slot. */
type AskedAccount = DueAccount & { reachedTo: number; listed: readonly ListedSignature[] };

/** Reads accounts between two looks at a block: it must stand at the end as it did at the beginning. */
const askStanding = async (
  provider: Provider,
  toSlot: number,
  read: () => Promise<{ accounts: readonly AskedAccount[]; endSlot: number }>,
) => {
  const askEnd = async () => {
    const [header] = await askHeaders(provider, { fromBlock: toSlot, toBlock: toSlot });
    return header;
  };
  const before = await askEnd();
  const { accounts, endSlot } = await read();
  const pointers = await pointersOf(provider, accounts, endSlot);
  const after = await askEnd();
  if (after === undefined || after.hash !== before?.hash) {
    throw new RpcFault("behind", "the chain moved while it was read");
  }
  const [cut] =
    endSlot < toSlot ? await askHeaders(provider, { fromBlock: endSlot, toBlock: endSlot }) : [];
  return { pointers, end: cut ?? after, readBy: provider.id, accounts };
};

const firstPageMax = 50;

type Asked = { fromSlot?: number; toSlot: number; trail: SignatureTrail; budget: ReadBudget };

/**
 * Lists the signatures of accounts. Most have few, and are asked for together. Those with more are read
 * from the oldest on, within a budget for all: those that are furthest behind come first.
 */
const askAccounts = async (
  provider: Provider,
  due: readonly DueAccount[],
  { budget, fromSlot, toSlot, trail }: Asked,
): Promise<readonly AskedAccount[]> => {
  const short = due.filter(({ account }) => !trail.has(account));
  const pages = await provider.askMany(
    short.map(({ account }) =>
      signaturesQuestion(account, { limit: firstPageMax, minContextSlot: toSlot }),
    ),
  );
  const asked: AskedAccount[] = [];
  for (const [index, one] of short.entries()) {
    const page = pages[index] ?? [];
    const [newest] = page;
    const isAll = page.length < firstPageMax || (page.at(-1)?.slot ?? 0) < one.since;
    if (newest !== undefined && !isAll) {
      trail.start(one.account, newest, one.since);
      continue;
    }
    const listed = page.filter(({ slot }) => slot >= one.since && slot <= toSlot).toReversed();
    // An audit must read all of its range, and reads the transactions in parts.
    if (fromSlot === undefined && listed.length > budget.signatures) {
      asked.push({ ...one, listed: [], reachedTo: one.since - 1 });
      continue;
    }
    budget.signatures -= listed.length;
    asked.push({ ...one, listed, reachedTo: toSlot });
  }
  // An audit that looks back beyond its range gives that up where there is so much.
  const long = due
    .filter(({ account }) => trail.has(account))
    .map((one) => ({ ...one, since: Math.max(one.since, fromSlot ?? 0) }))
    .sort((a, b) => a.since - b.since);
  let endSlot = toSlot;
  for (const one of long) {
    const read = await trail.readOldest(provider, { ...one, toSlot: endSlot }, budget);
    asked.push({ ...one, ...read });
    if (fromSlot !== undefined) endSlot = Math.max(fromSlot, Math.min(endSlot, read.reachedTo));
  }
  return asked;
};

/** The pointers of what was listed, oldest first; within a block as the account's own list has them. */
const pointersOf = async (
  provider: Provider,
  accounts: readonly AskedAccount[],
  endSlot: number,
): Promise<readonly Pointer[]> => {
  const found = new Map<string, ListedSignature>();
  for (const { listed } of accounts) {
    for (const one of listed) {
      // What failed moved nothing.
      if (one.isSuccessful && one.slot <= endSlot) found.set(one.signature, one);
    }
  }
  const inOrder = [...found.values()].sort((a, b) => a.slot - b.slot);
  const blocks = await askBlocks(
    provider,
    inOrder.map(({ slot }) => slot),
  );
  return inOrder.map(({ signature, slot, timestampSeconds }) => {
    const block = blocks.get(slot);
    if (block === undefined) throw new RpcFault("invalid", "a block was left out");
    const time = timestampSeconds ?? block.timestampSeconds;
    const place = { blockNumber: slot, blockHash: block.hash };
    return { ...place, transactionHash: signature, timestampSeconds: time };
  });
};
