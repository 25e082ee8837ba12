import type { FetchSolanaAccountState } from "@payment-links/contracts";
import type { ReaderContext } from "../../rpc/create-chain-readers.ts";
import { readChain } from "../../rpc/read-chain.ts";
import type { ChainReader } from "../../watch/chain-reader.ts";
import type { AccountSchedule } from "./account-schedule.ts";
import type { Account } from "./rpc-results.ts";
import { createAccountsRequest } from "./reads/accounts-request.ts";
import { createReadAccountState } from "./reads/read-account-state.ts";
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
  fetchSolanaAccountState: FetchSolanaAccountState;
};

/** The reads of one chain of Solana over its providers. */
export const createSolanaReader = (
  context: ReaderContext,
  chain: SolanaChain,
  schedule: AccountSchedule,
  readOwners: () => Promise<IsOwner> = readNoOwners,
): SolanaReader => ({
  readHeads: createReadHeads(context),
  readHeaders: createReadHeaders(context),
  readPointers: createReadPointers(context, schedule),
  ...createTransactionReads(context, chain, readOwners),
  readAccounts: (addresses) =>
    context.failover.run("accounts", async (provider) => {
      const [accounts] = await provider.request([createAccountsRequest(addresses)]);
      return accounts;
    }),
  readChain: () => readChain(context),
  fetchSolanaAccountState: createReadAccountState(context, chain),
});

const readNoOwners = async () => () => false;
