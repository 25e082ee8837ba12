import { randomBytes } from "node:crypto";
import { tronFromHex, tronToHex } from "@payment-links/contracts";
import { openTronChain } from "@payment-links/settlement-listener/testing/open-tron-chain";
import { type PayerOptions, openPayers } from "./open-checkout.ts";
import { openTronNode } from "./open-tron-node.ts";
import { openPaymentSystem } from "./payment-system.ts";
import { type TronWallet, openTronWallet } from "./tron-wallet.ts";

type TronPayerOptions = PayerOptions & {
  /** What a transaction of the wallet's lasts; a minute if not given. */
  lastsMs?: number;
  /** Whether the wallet is of before TIP-6963. */
  isOld?: boolean;
  /** Whether its `tronWeb` asks a node from within the page, one that the catalogue has. */
  asksInPage?: boolean;
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
export const openTronCheckout = async () => {
  const chain = await openTronChain({ finalizedLag, chainId: String(chainNumber) });
  const { chains, tokens } = chain.catalogueData;
  const node = await openTronNode();
  const walletNodes = { ...explorer, origins: [node.origin] };
  const catalogueData = {
    chains: chains.map((one) => ({ ...one, explorer, walletNodes })),
    tokens,
  };
  const system = await openPaymentSystem({
    chain: {
      ...chain,
      catalogueData,
      tokenId: "usdc-local-tron",
      openWallet: () => tronFromHex(randomBytes(20).toString("hex")),
      pay: ({ to, ...order }) => chain.pay({ ...order, to: tronToHex(to) }),
    },
  });
  const payers = await openPayers<TronWallet, TronPayerOptions>({
    chain,
    system,
    openWallet: ({ name, account, options }) => {
      const { announceAfterMs = 0, isOld = false, asksInPage = false, lastsMs } = options;
      const wallet = openTronWallet({
        ...(lastsMs !== undefined && { lastsMs }),
        ...(asksInPage && { nodeOrigin: node.origin }),
        name,
        account,
        announceAfterMs,
        isOld,
        nodeUrl: chain.url,
        evmUrl: chain.evmUrl,
        chainNumber,
      });
      if (asksInPage) node.answerBy(wallet.answerNode);
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
