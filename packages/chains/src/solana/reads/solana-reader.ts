import type { FetchSolanaAccountState } from "@payment-links/contracts";
import type { ReaderContext } from "../../rpc/create-chain-readers.ts";
import type { ChainReader } from "../../reads/chain-reader.ts";
import type { AccountSchedule } from "./account-schedule.ts";
import type { Account } from "./rpc-results.ts";
import { createAccountsRequest, createReadAccountState } from "./read-account-state.ts";
import { createReadHeaders } from "./read-headers.ts";
import { fetchHeads } from "./read-heads.ts";
import { createReadPointers } from "./read-pointers.ts";
import { createTransactionReads } from "./read-transactions.ts";
import type { SolanaChain } from "./solana-chain.ts";
import type { IsOwner } from "./verify-transaction.ts";

/** A `ChainReader` for Solana, with additional reads for the catalogue check and for payers. */
export type SolanaReader = ChainReader & {
  /** Returns up to 100 accounts, in the order of the addresses. */
  readAccounts(addresses: readonly string[]): Promise<readonly Account[]>;
  /**
   * Returns the first characters of the genesis hash of the chain that the first provider serves.
   */
  readChain(): Promise<string>;
  /** Reads the account state that is needed to build a payer's transaction. */
  fetchSolanaAccountState: FetchSolanaAccountState;
};

/** Creates the reader of one Solana network over its providers. */
export const createSolanaReader = (
  context: ReaderContext,
  chain: SolanaChain,
  schedule: AccountSchedule,
  readOwners: () => Promise<IsOwner> = readNoOwners,
): SolanaReader => ({
  readHeads: () => context.failover.readHeads(fetchHeads),
  readHeaders: createReadHeaders(context),
  readPointers: createReadPointers(context, schedule),
  ...createTransactionReads(context, chain, readOwners),
  readAccounts: (addresses) =>
    context.failover.run("accounts", async (provider) => {
      const [accounts] = await provider.request([createAccountsRequest(addresses)]);
      return accounts;
    }),
  readChain: () => context.failover.readChain(),
  fetchSolanaAccountState: createReadAccountState(context.failover, chain),
});

const readNoOwners = async () => () => false;
