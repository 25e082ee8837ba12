import { createHash, randomBytes } from "node:crypto";
import { getBase58Decoder } from "@solana/kit";
import {
  openCatalogue,
  solanaReference,
  solanaTokenAccount,
  solanaTokenPrograms,
} from "@payment-links/contracts";
import { programOf } from "../families/solana/solana-chain.ts";
import { serveHeavyNode } from "./run-heavy-chain.ts";
import { sampleLink } from "./samples.ts";

const base58 = getBase58Decoder();
const headSlot = 400_000_000;
/** The head moves on by 2 s each time the node is asked for it. */
const slotsPerPoll = 5;
const finalDepth = 32;
const mintBytes = 82;
/** An hour: how far back an account is read that was not asked for before. */
const lookBackSlots = 8_900;
const blockTimeSeconds = 1_790_000_000;
const key = (): string => base58.decode(randomBytes(32));

/**
 * A node of Solana on which strangers sent an owner's token account many transfers within an hour. The
 * newest transfer pays `link`.
 */
export const serveHotAccount = async (transferCount: number) => {
  const { tokens } = openCatalogue();
  const mint = tokens.find(({ id }) => id === "usdc-solana")?.address;
  if (mint === undefined) throw new Error("the catalogue has no Solana");
  const owner = key();
  const link = sampleLink({
    chainId: "solana",
    tokenAddress: mint,
    destinationAddress: owner,
  });
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
  // A transaction is the same each time the node is asked for it.
  const [payer = "", source = "", ...others] = Array.from({ length: 17 }, key);
  const referenceOf = (signature: string) =>
    signature === listed[0]?.signature
      ? solanaReference(link.paymentReference)
      : base58.decode(createHash("sha256").update(signature).digest());
  const transactionOf = (signature: string) => {
    const keys = [payer, source, hot, program, referenceOf(signature), ...others.slice(0, 11)];
    const balance = (accountIndex: number, holder: string, amount: string) => ({
      accountIndex,
      mint,
      owner: holder,
      programId: program,
      uiTokenAmount: { amount },
    });
    const called = others.slice(-4).map((data, index) => ({
      programIdIndex: 4,
      accounts: [1, 2, 0, 5 + index],
      data,
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
  let head = headSlot;
  const mintOf = (address: string) => {
    const token = tokens.find((one) => one.address === address);
    if (token === undefined) return null;
    const bytes = Buffer.alloc(mintBytes);
    bytes.set([token.decimals, 1], 44);
    return { data: [bytes.toString("base64"), "base64"], owner: programOf(token) };
  };
  const answers: Record<string, (params: readonly unknown[]) => unknown> = {
    getGenesisHash: () => "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d",
    getSlot: ([asked]) => {
      const { commitment, minContextSlot } = asked as {
        commitment: string;
        minContextSlot?: number;
      };
      if (commitment === "finalized") return head - finalDepth;
      // Only a question for the head names no slot.
      if (minContextSlot === undefined) head += slotsPerPoll;
      return head;
    },
    getMultipleAccounts: ([addresses]) => ({
      value: (addresses as string[]).map(mintOf),
    }),
    getBlocks: ([from, to]) => {
      const last = Math.min(Number(to), head);
      return Array.from({ length: last - Number(from) + 1 }, (_, index) => Number(from) + index);
    },
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
  return { ...node, owner, headSlot, link };
};
