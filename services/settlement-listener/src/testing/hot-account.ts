import { randomBytes } from "node:crypto";
import { getBase58Decoder } from "@solana/kit";
import { openCatalogue, solanaTokenAccount, solanaTokenPrograms } from "@payment-links/contracts";
import { serveHeavyNode } from "./run-heavy-chain.ts";

const base58 = getBase58Decoder();
const headSlot = 400_000_000;
/** An hour: how far back an account is read that was not asked for before. */
const lookBackSlots = 8_900;
const blockTimeSeconds = 1_790_000_000;
const key = (): string => base58.decode(randomBytes(32));

/** A node of Solana on which strangers sent an owner's token account many transfers within an hour. */
export const serveHotAccount = async (transferCount: number) => {
  const { tokens } = openCatalogue();
  const mint = tokens.find(({ id }) => id === "usdc-solana")?.address;
  if (mint === undefined) throw new Error("the catalogue has no Solana");
  const owner = key();
  const program = solanaTokenPrograms.token;
  const hot = solanaTokenAccount({ owner, mint, program });
  const listed = Array.from({ length: transferCount }, (_, index) => ({
    signature: base58.decode(randomBytes(64)),
    slot: headSlot - 2 - Math.floor((index * lookBackSlots) / transferCount),
    err: null,
    blockTime: blockTimeSeconds,
  }));
  const indexOf = new Map(listed.map(({ signature }, index) => [signature, index]));
  const hashOf = (slot: number) =>
    base58.decode(Buffer.concat([Buffer.alloc(28, 7), Buffer.from(Uint32Array.of(slot).buffer)]));
  // Token's instruction 3 moves one base unit.
  const data = base58.decode(Uint8Array.of(3, 1, 0, 0, 0, 0, 0, 0, 0));
  const transactionOf = (signature: string) => {
    const [payer, source] = [key(), key()];
    const keys = [payer, source, hot, program, ...Array.from({ length: 12 }, key)];
    const balance = (accountIndex: number, holder: string, amount: string) => ({
      accountIndex,
      mint,
      owner: holder,
      programId: program,
      uiTokenAmount: { amount },
    });
    const called = Array.from({ length: 4 }, (_, index) => ({
      programIdIndex: 4,
      accounts: [1, 2, 0, 5 + index],
      data: key(),
    }));
    return {
      slot: listed[indexOf.get(signature) ?? 0]?.slot,
      blockTime: blockTimeSeconds,
      version: "legacy",
      meta: {
        err: null,
        innerInstructions: [{ index: 0, instructions: called }],
        logMessages: called.map((one) => `Program log: Instruction: Transfer ${one.data}`),
        preTokenBalances: [balance(1, payer, "10"), balance(2, owner, "10")],
        postTokenBalances: [balance(1, payer, "9"), balance(2, owner, "11")],
      },
      transaction: {
        signatures: [signature],
        message: {
          header: { numRequiredSignatures: 1 },
          accountKeys: keys,
          instructions: [{ programIdIndex: 3, accounts: [1, 2, 0, 4], data }],
        },
      },
    };
  };
  const answers: Record<string, (params: readonly unknown[]) => unknown> = {
    getGenesisHash: () => "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d",
    getSlot: () => headSlot,
    getBlocks: ([from, to]) =>
      Array.from({ length: Number(to) - Number(from) + 1 }, (_, index) => Number(from) + index),
    getBlock: ([slot]) => ({
      blockhash: hashOf(Number(slot)),
      previousBlockhash: hashOf(Number(slot) - 1),
      blockTime: blockTimeSeconds,
      blockHeight: Number(slot) - 1_000,
    }),
    getSignaturesForAddress: ([account, cut]) => {
      if (account !== hot) return [];
      const { before, limit = 1_000 } = cut as { before?: string; limit?: number };
      const from = before === undefined ? 0 : (indexOf.get(before) ?? 0) + 1;
      return listed.slice(from, from + limit);
    },
    getTransaction: ([signature]) => transactionOf(String(signature)),
  };
  const node = await serveHeavyNode((method, params) => {
    const answer = answers[method];
    if (answer === undefined) throw new Error(method);
    return answer(params);
  });
  return { ...node, owner, headSlot };
};
