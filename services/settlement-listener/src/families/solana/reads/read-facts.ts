import {
  type AskSolana,
  type SolanaFacts,
  solanaTokenAccount,
  solanaTokenPrograms,
} from "@payment-links/contracts";
import type { Question } from "../../../rpc/json-rpc.ts";
import type { ReaderGround } from "../../../rpc/open-chain-readers.ts";
import { readObject } from "../../../rpc/read-answer.ts";
import { type Account, readKey } from "../node-answers.ts";
import { type SolanaChain, programOf } from "../solana-chain.ts";
import { accountsQuestion } from "./accounts-question.ts";
import { commitment } from "./ask-blocks.ts";

/** Payers are strangers: what they ask must not use up what a provider grants to the watch. */
const atOnceMax = 8;

const tokenPrograms: ReadonlySet<string> = new Set(Object.values(solanaTokenPrograms));

/** Reads what a payer's transaction is made of. Both answers are of one node. */
export const createReadFacts = ({ turn }: Pick<ReaderGround, "turn">, chain: SolanaChain) => {
  let underWay = 0;
  const readFacts: AskSolana = async ({ owner, payer, tokenAddress }) => {
    const token = chain.tokens.get(tokenAddress);
    if (token === undefined) throw new Error(`the catalogue has no token ${tokenAddress}`);
    if (underWay >= atOnceMax) throw new Error(`${atOnceMax} payers are being answered`);
    const program = programOf(token);
    const accounts = [payer, owner].map((holder) =>
      solanaTokenAccount({ owner: holder, mint: tokenAddress, program }),
    );
    underWay += 1;
    try {
      const [blockhash, [ofPayer = null, ofOwner = null, destination = null]] = await turn.ask(
        "facts",
        (provider) => provider.ask([blockhashQuestion, accountsQuestion([...accounts, owner])]),
      );
      return {
        blockhash,
        payerAmount: amountIn(ofPayer, program),
        isOwnerReady: ofOwner?.program === program,
        isTokenProgramAccount: tokenPrograms.has(destination?.program ?? ""),
      };
    } finally {
      underWay -= 1;
    }
  };
  return readFacts;
};

const blockhashQuestion: Question<string> = {
  method: "getLatestBlockhash",
  params: [{ commitment }],
  read: (result) => readKey(readObject(readObject(result)["value"])["blockhash"]),
};

const amountAt = 64;
const amountBytes = 8;

/** What a token account of either program holds: behind its mint and its owner. */
const amountIn = (account: Account, program: string): SolanaFacts["payerAmount"] => {
  if (account?.program !== program || account.data.length < amountAt + amountBytes) return "0";
  const { buffer, byteOffset, byteLength } = account.data;
  return String(new DataView(buffer, byteOffset, byteLength).getBigUint64(amountAt, true));
};
