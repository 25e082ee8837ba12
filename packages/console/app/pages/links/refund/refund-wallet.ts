import type { RefundInstructions } from "../../../api/operations.ts";

/** A wallet in this browser. Its name is empty if the wallet does not announce one. */
export type RefundWallet = {
  id: string;
  name: string;
  /** Connects the wallet on the chain and returns its account. */
  connect: (instructions: RefundInstructions) => Promise<string>;
  /**
   * Prepares the transaction before anything is stored. The result asks the wallet to send it and
   * resolves with its id. `candidateId` is the id if it is known before.
   */
  prepare: (
    instructions: RefundInstructions,
    account: string,
  ) => Promise<{ candidateId?: string; send: () => Promise<string> }>;
};

/** Lists the wallets of one interface. */
export type WalletSource = {
  listWallets: () => readonly RefundWallet[];
  /** Asks the wallets to announce themselves, which they do before this returns. */
  discoverWallets: () => void;
};
