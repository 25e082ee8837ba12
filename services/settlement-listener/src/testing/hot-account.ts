import { createHash, randomBytes } from "node:crypto";
import { getBase58Decoder } from "@solana/kit";
import {
  deriveSolanaReference,
  deriveAssociatedTokenAccount,
  getTokenProgram,
  solanaTokenPrograms,
} from "@payment-links/chains";
import { loadCatalogue } from "@payment-links/contracts";
import { serializeMint } from "@payment-links/local-chains/solana/token-account";
import { serveHeavyNode } from "./run-heavy-chain.ts";
import { sampleLink } from "./samples.ts";

const base58 = getBase58Decoder();
const headSlot = 400_000_000;
/** The number of slots by which each request for the head advances it. They take 2 s. */
const slotsPerPoll = 5;
const finalDepth = 32;
/**
 * Slightly less than an hour. If an account has not been read before, the listener reads the last
 * hour.
 */
const lookBackSlots = 8_900;
const blockTimeSeconds = 1_790_000_000;
const randomAddress = (): string => base58.decode(randomBytes(32));

/**
 * Serves a Solana node on which one token account of an owner has received many unrelated transfers
 * within an hour. The newest transfer pays `link`.
 */
export const serveHotAccount = async (transferCount: number) => {
  const { tokens } = loadCatalogue();
  const mint = tokens.find(({ id }) => id === "usdc-solana")?.address;
  if (mint === undefined) throw new Error("the catalogue has no Solana");
  const owner = randomAddress();
  const link = sampleLink({
    chainId: "solana",
    tokenAddress: mint,
    destinationAddress: owner,
  });
  const tokenProgram = solanaTokenPrograms.token;
  const hotAccount = deriveAssociatedTokenAccount({ owner, mint, program: tokenProgram });
  const signatureInfos = Array.from({ length: transferCount }, (_, index) => ({
    signature: base58.decode(randomBytes(64)),
    slot: headSlot - 2 - Math.floor((index * lookBackSlots) / transferCount),
    err: null,
    blockTime: blockTimeSeconds,
  }));
  const indexBySignature = new Map(
    signatureInfos.map(({ signature }, index) => [signature, index]),
  );
  const toBlockHash = (slot: number) =>
    base58.decode(Buffer.concat([Buffer.alloc(28, 7), Buffer.from(Uint32Array.of(slot).buffer)]));
  // Instruction 3 of the token program transfers one base unit.
  const data = base58.decode(Uint8Array.of(3, 1, 0, 0, 0, 0, 0, 0, 0));
  // Every request for a transaction returns the same content.
  const [payer = "", source = "", ...otherKeys] = Array.from({ length: 17 }, randomAddress);
  const findReference = (signature: string) =>
    signature === signatureInfos[0]?.signature
      ? deriveSolanaReference(link.paymentReference)
      : base58.decode(createHash("sha256").update(signature).digest());
  const createTransaction = (signature: string) => {
    const keys = [
      payer,
      source,
      hotAccount,
      tokenProgram,
      findReference(signature),
      ...otherKeys.slice(0, 11),
    ];
    const createBalance = (accountIndex: number, balanceOwner: string, amount: string) => ({
      accountIndex,
      mint,
      owner: balanceOwner,
      programId: tokenProgram,
      uiTokenAmount: { amount },
    });
    const innerTransfers = otherKeys.slice(-4).map((data, index) => ({
      programIdIndex: 4,
      accounts: [1, 2, 0, 5 + index],
      data,
    }));
    return {
      slot: signatureInfos[indexBySignature.get(signature) ?? 0]?.slot,
      blockTime: blockTimeSeconds,
      version: "legacy",
      meta: {
        err: null,
        innerInstructions: [{ index: 0, instructions: innerTransfers }],
        logMessages: innerTransfers.map(
          (instruction) => `Program log: Instruction: Transfer ${instruction.data}`,
        ),
        preTokenBalances: [createBalance(1, payer, "10"), createBalance(2, owner, "10")],
        postTokenBalances: [createBalance(1, payer, "9"), createBalance(2, owner, "11")],
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
  const createMintAccount = (address: string) => {
    const token = tokens.find((candidate) => candidate.address === address);
    return token === undefined ? null : serializeMint(token.decimals, getTokenProgram(token));
  };
  const handlers: Record<string, (params: readonly unknown[]) => unknown> = {
    getGenesisHash: () => "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d",
    getSlot: ([options]) => {
      const { commitment, minContextSlot } = options as {
        commitment: string;
        minContextSlot?: number;
      };
      if (commitment === "finalized") return head - finalDepth;
      // Only requests for the head have no minimum slot.
      if (minContextSlot === undefined) head += slotsPerPoll;
      return head;
    },
    getMultipleAccounts: ([addresses]) => ({
      value: (addresses as string[]).map(createMintAccount),
    }),
    getBlocks: ([from, to]) => {
      const last = Math.min(Number(to), head);
      return Array.from({ length: last - Number(from) + 1 }, (_, index) => Number(from) + index);
    },
    getBlock: ([slot]) => ({
      blockhash: toBlockHash(Number(slot)),
      previousBlockhash: toBlockHash(Number(slot) - 1),
      blockTime: blockTimeSeconds,
      blockHeight: Number(slot) - 1_000,
    }),
    getSignaturesForAddress: ([account, pageOptions]) => {
      if (account !== hotAccount) return [];
      const { before, limit = 1_000 } = pageOptions as { before?: string; limit?: number };
      const start = before === undefined ? 0 : (indexBySignature.get(before) ?? 0) + 1;
      return signatureInfos.slice(start, start + limit);
    },
    getTransaction: ([signature]) => createTransaction(String(signature)),
  };
  const node = await serveHeavyNode((method, params) => {
    const handler = handlers[method];
    if (handler === undefined) throw new Error(method);
    return handler(params);
  });
  return { ...node, owner, headSlot, link };
};
