import { randomBytes } from "node:crypto";
import { tronAddressFromHex, tronAddressToHex } from "@payment-links/contracts";
import { startTronChain } from "@payment-links/settlement-listener/testing/start-tron-chain";
import { type PayerOptions, createPayers } from "./create-checkout.ts";
import { startTronNode } from "./start-tron-node.ts";
import { createPaymentSystem } from "./payment-system.ts";
import { type TronWallet, createTronWallet } from "./tron-wallet.ts";

type TronPayerOptions = PayerOptions & {
  /** What a transaction of the wallet's lasts; a minute if not given. */
  lifetimeMs?: number;
  /** Whether the wallet is of before TIP-6963. */
  isLegacy?: boolean;
  /** Whether its `tronWeb` asks a node from within the page, one that the catalogue has. */
  queriesFromPage?: boolean;
};

const chainNumber = 1_338;
/** Behind the head; a block that is solid stays. */
const finalizedLag = 2;

/** Nobody looks there. */
const explorer = {
  url: "https://explorer.test",
  paths: { transactions: "/#/transaction/{}", addresses: "/#/address/{}" },
  source: "this test",
  verifiedOn: "2026-11-23",
};

/**
 * Links over the local Tron that makes a block for each transaction, a watcher of it, and a browser whose
 * payers have wallets over it.
 */
export const createTronCheckout = async () => {
  const chain = await startTronChain({ finalizedLag, chainId: String(chainNumber) });
  const { chains, tokens } = chain.catalogueData;
  const node = await startTronNode();
  const walletNodes = { ...explorer, origins: [node.origin] };
  const catalogueData = {
    chains: chains.map((chainEntry) => ({ ...chainEntry, explorer, walletNodes })),
    tokens,
  };
  const system = await createPaymentSystem({
    chain: {
      ...chain,
      catalogueData,
      tokenId: "usdc-local-tron",
      createAddress: () => tronAddressFromHex(randomBytes(20).toString("hex")),
      pay: ({ to, ...payment }) => chain.pay({ ...payment, to: tronAddressToHex(to) }),
    },
  });
  const payers = await createPayers<TronWallet, TronPayerOptions>({
    chain,
    system,
    createWallet: ({ name, account, options }) => {
      const {
        announceAfterMs = 0,
        isLegacy = false,
        queriesFromPage = false,
        lifetimeMs,
      } = options;
      const wallet = createTronWallet({
        ...(lifetimeMs !== undefined && { lifetimeMs }),
        ...(queriesFromPage && { nodeOrigin: node.origin }),
        name,
        account,
        announceAfterMs,
        isLegacy,
        nodeUrl: chain.url,
        evmUrl: chain.evmUrl,
        chainNumber,
      });
      if (queriesFromPage) node.setHandler(wallet.handleNodeRequest);
      return wallet;
    },
  });
  return {
    ...payers,
    node,
    close: async (): Promise<void> => {
      await payers.close();
      await node.close();
    },
  };
};
