import type { AskSolana } from "@payment-links/contracts";
import type { ReaderGround } from "../../rpc/open-chain-readers.ts";
import { readChain } from "../../rpc/read-chain.ts";
import type { ChainReader } from "../../watch/chain-reader.ts";
import type { AccountSchedule } from "./account-schedule.ts";
import type { Account } from "./node-answers.ts";
import { accountsQuestion } from "./reads/accounts-question.ts";
import { createReadFacts } from "./reads/read-facts.ts";
import { createReadHeaders } from "./reads/read-headers.ts";
import { createReadHeads } from "./reads/read-heads.ts";
import { createReadPointers } from "./reads/read-pointers.ts";
import { createTransactionReads } from "./reads/read-transactions.ts";
import type { SolanaChain } from "./solana-chain.ts";
import type { IsOwner } from "./verify-transaction.ts";

/** Reads Solana: as every chain is read, and what its check against the catalogue asks. */
export type SolanaReader = ChainReader & {
  /** Accounts in the order of their addresses, 100 at most. */
  readAccounts(addresses: readonly string[]): Promise<readonly Account[]>;
  /** Which chain the providers say they serve: the beginning of its genesis hash. */
  readChain(): Promise<string>;
  /** What a payer's transaction is made of. */
  askSolana: AskSolana;
};

/** The reads of one chain of Solana over its providers. */
export const createSolanaReader = (
  ground: ReaderGround,
  chain: SolanaChain,
  schedule: AccountSchedule,
  readOwners: () => Promise<IsOwner> = nobody,
): SolanaReader => ({
  readHeads: createReadHeads(ground),
  readHeaders: createReadHeaders(ground),
  readPointers: createReadPointers(ground, schedule),
  ...createTransactionReads(ground, chain, readOwners),
  readAccounts: (addresses) =>
    ground.turn.ask("accounts", async (provider) => {
      const [accounts] = await provider.ask([accountsQuestion(addresses)]);
      return accounts;
    }),
  readChain: () => readChain(ground),
  askSolana: createReadFacts(ground, chain),
});

const nobody = async () => () => false;
