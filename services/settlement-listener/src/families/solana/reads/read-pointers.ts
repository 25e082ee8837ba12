import type { Question } from "../../../rpc/json-rpc.ts";
import type { ReaderGround } from "../../../rpc/open-chain-readers.ts";
import type { Provider } from "../../../rpc/provider.ts";
import { RpcFault } from "../../../rpc/rpc-fault.ts";
import type { ChainReader, Pointer } from "../../../watch/chain-reader.ts";
import type { AccountSchedule, DueAccount } from "../account-schedule.ts";
import { type ListedSignature, readSignatures } from "../node-answers.ts";
import { askBlocks, askHeaders, commitment } from "./ask-blocks.ts";

type PointersOptions = Pick<ReaderGround, "turn">;

/**
 * Reads what names the owners' token accounts, of those that the schedule has due. The end's block is
 * asked for before and after, and each list of a node that has come to it.
 */
export const createReadPointers =
  ({ turn }: PointersOptions, schedule: AccountSchedule): ChainReader["readPointers"] =>
  async ({ fromBlock, toBlock, isAgain = false }) => {
    const range = { fromBlock, toBlock };
    const due = isAgain ? await schedule.listAll(fromBlock) : await schedule.listDue(range);
    const read = await turn.ask("signatures", async (provider) => {
      const [end] = await askHeaders(provider, { fromBlock: toBlock, toBlock });
      const pointers = await askPointers(provider, due, toBlock);
      const [again] = await askHeaders(provider, { fromBlock: toBlock, toBlock });
      if (end === undefined || end.hash !== again?.hash) {
        throw new RpcFault("behind", "the chain moved while it was read");
      }
      return { pointers, end, readBy: provider.id };
    });
    if (!isAgain) schedule.asked(due, range);
    return read;
  };

const askPointers = async (
  provider: Provider,
  due: readonly DueAccount[],
  toSlot: number,
): Promise<readonly Pointer[]> => {
  const found = new Map<string, ListedSignature>();
  const keep = (listed: readonly ListedSignature[], { since }: DueAccount): void => {
    for (const one of listed) {
      // What failed moved nothing.
      const isInside = one.slot >= since && one.slot <= toSlot;
      if (isInside && one.isSuccessful) found.set(one.signature, one);
    }
  };
  const questions = due.map(({ account }) =>
    signaturesQuestion(account, { toSlot, limit: pageMin }),
  );
  const answers = await provider.askMany(questions);
  for (const [index, account] of due.entries()) {
    const listed = answers[index] ?? [];
    keep(listed, account);
    if (listed.length >= pageMin) await askOlder(provider, { account, listed, toSlot, keep });
  }
  // Oldest first; within a block as the account's own list has them.
  const inOrder = [...found.values()].reverse().sort((a, b) => a.slot - b.slot);
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

const pageMin = 50;
const pageMax = 1_000;
const pagesMax = 1_000;

/** Goes on where a list was full, until it comes to what was asked before. */
const askOlder = async (
  provider: Provider,
  {
    account,
    listed: first,
    toSlot,
    keep,
  }: {
    account: DueAccount;
    listed: readonly ListedSignature[];
    toSlot: number;
    keep: (listed: readonly ListedSignature[], account: DueAccount) => void;
  },
): Promise<void> => {
  let last = first.at(-1);
  for (let page = 0; page < pagesMax; page += 1) {
    if (last === undefined || last.slot < account.since) return;
    const asked = { toSlot, limit: pageMax, before: last.signature };
    const [listed] = await provider.ask([signaturesQuestion(account.account, asked)]);
    keep(listed, account);
    if (listed.length < pageMax) return;
    last = listed.at(-1);
  }
  throw new RpcFault("range", "an account with too many transactions");
};

const signaturesQuestion = (
  account: string,
  { toSlot, ...cut }: { toSlot: number; limit: number; before?: string },
): Question<readonly ListedSignature[]> => ({
  method: "getSignaturesForAddress",
  params: [account, { commitment, minContextSlot: toSlot, ...cut }],
  read: readSignatures,
});
