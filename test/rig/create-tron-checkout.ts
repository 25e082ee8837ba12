import { randomBytes } from "node:crypto";
import { tronAddressFromHex, tronAddressToHex } from "@payment-links/chains/tron-address";
import { startTronChain } from "@payment-links/local-chains/tron/start-tron-chain";
import { type PayerOptions, createPayers } from "./create-checkout.ts";
import { startTronNode } from "./start-tron-node.ts";
import { createPaymentSystem } from "./payment-system.ts";
import { type TronWallet, createTronWallet } from "./tron-wallet.ts";

type TronPayerOptions = PayerOptions & {
  /** The lifetime of the wallet's transactions. The default is 1 minute. */
  lifetimeMs?: number;
  /** True for a wallet that predates TIP-6963. */
  isLegacy?: boolean;
  /**
   * Whether the wallet's `tronWeb` queries a node from within the page. The catalogue lists that
   * node's origin.
   */
  queriesFromPage?: boolean;
};

const chainNumber = 1_338;
/** The number of blocks behind the head. A solid block never changes. */
const finalizedLag = 2;

/** This host does not receive requests. */
const explorer = {
  url: "https://explorer.test",
  paths: { transactions: "/#/transaction/{}", addresses: "/#/address/{}" },
  source: "this test",
  verifiedOn: "2026-11-23",
};

/**
 * Starts the local Tron chain, a watcher of that chain, and a browser. The chain mines a block for
 * each transaction. The payers in the browser have wallets on that chain.
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
        announcesLate = false,
        isLegacy = false,
        queriesFromPage = false,
        lifetimeMs,
      } = options;
      const wallet = createTronWallet({
        ...(lifetimeMs !== undefined && { lifetimeMs }),
        ...(queriesFromPage && { nodeOrigin: node.origin }),
        name,
        account,
        announcesLate,
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
