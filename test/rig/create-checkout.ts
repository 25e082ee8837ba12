import type { BrowserContextOptions } from "playwright-core";
import { devnet } from "@payment-links/contracts";
import { type LocalEvmChain, startEvmChain } from "@payment-links/settlement-listener/testing";
import { waitUntil } from "@payment-links/runtime/testing";
import { compileContracts } from "../../services/settlement-listener/src/testing/compile-contracts.ts";
import { type BrowserUser, connectChromium } from "./chromium.ts";
import { type LinkOptions, type PaymentSystem, createPaymentSystem } from "./payment-system.ts";
import {
  type BatchSupport,
  type InstalledWallet,
  type TestWallet,
  createWallet,
} from "./wallet.ts";

/** One of the chain's payers, whom it lets hold plenty and allow everything. */
const defaultPayer = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

/** What the page tells a wallet that does not know the chain; nobody asks there. */
export const publicRpcUrl = "https://rpc.test/";

const source = { source: "this test", verifiedOn: "2026-11-22" };

/** Nobody looks there. */
const explorer = { ...source, url: "https://explorer.test" };

export type PayerOptions = LinkOptions & {
  account?: string;
  /** The names of the wallets in the payer's browser. */
  walletNames?: readonly string[];
  /** When they make themselves known; at once if not given. */
  announceAfterMs?: number;
};

type EvmPayerOptions = PayerOptions & {
  /** How the wallets carry out several calls as one; not at all if not given. */
  batching?: BatchSupport["status"];
};

/**
 * The page looks again every two or four seconds; here it looks ten times as often. It waits twenty seconds for a
 * wallet's answer before it offers a way on; here it waits four.
 */
const shortenTimersScript = `for (const name of ["setTimeout", "setInterval"]) {
  const start = window[name];
  const shorten = (ms) => (ms >= 2_000 && ms <= 4_000 ? ms / 10 : ms === 20_000 ? 4_000 : ms);
  window[name] = (work, ms, ...params) => start(work, shorten(ms), ...params);
}`;

const deployBatchAccount = async (chain: LocalEvmChain): Promise<string> => {
  const bytecodes = await compileContracts(new URL("batch-account.sol", import.meta.url));
  const hash = await chain.callRpc("eth_sendTransaction", [
    { from: defaultPayer, data: bytecodes["BatchAccount"] },
  ]);
  // It is in a block soon after the node has answered.
  let receipt: unknown;
  await waitUntil("the contract's receipt", async () => {
    receipt = await chain.callRpc("eth_getTransactionReceipt", [hash]);
    return receipt !== null;
  });
  return (receipt as { contractAddress: string }).contractAddress;
};

type PayersContext<Wallet, Options> = {
  chain: LocalEvmChain;
  system: PaymentSystem;
  /** Opens a wallet of a payer's. */
  createWallet: (walletDetails: { name: string; account: string; options: Options }) => Wallet;
};

/** A browser over links that are watched, whose payers have wallets over the chain's node. */
export const createPayers = async <Wallet extends InstalledWallet, Options extends PayerOptions>({
  chain,
  system,
  createWallet,
}: PayersContext<Wallet, Options>) => {
  await system.startWatcher();
  await chain.callRpc("evm_setAutomine", [true]);
  const chromium = await connectChromium();
  const users: BrowserUser[] = [];

  const createUser = async (options: Partial<Parameters<typeof chromium.createBrowserUser>[0]>) => {
    const user = await chromium.createBrowserUser({ origin: system.publicUrl, ...options });
    await user.context.addInitScript(shortenTimersScript);
    users.push(user);
    return user;
  };
  return {
    chain,
    system,
    createUser,
    /** A new link, and somebody with a wallet in front of a tab. */
    createPayer: async (options: Options, browserOptions: BrowserContextOptions = {}) => {
      const {
        account = defaultPayer,
        walletNames = ["Test"],
        ...linkOptions
      }: PayerOptions = options;
      const link = await system.createLink(linkOptions);
      const wallets = walletNames.map((name) => createWallet({ name, account, options }));
      const [wallet] = wallets;
      if (wallet === undefined) throw new Error("a payer has a wallet");
      const user = await createUser({ ...browserOptions, wallets });
      return { link, wallet, wallets, user, ...(await user.openTab()) };
    },
    /** Gives an account of the node's as much of the token as it then pays. */
    mint: (to: string, amount: bigint) => {
      const abiWords = [to.slice(2).toLowerCase(), amount.toString(16)];
      const data = `0x40c10f19${abiWords.map((abiWord) => abiWord.padStart(64, "0")).join("")}`;
      return chain.callRpc("eth_sendTransaction", [
        { from: to, to: chain.getTokenAddress("usdc"), data },
      ]);
    },
    /** How many base units of the token an account holds. */
    balanceOf: async (account: string): Promise<bigint> => {
      const data = `0x70a08231${account.slice(2).toLowerCase().padStart(64, "0")}`;
      return BigInt(
        String(
          await chain.callRpc("eth_call", [{ to: chain.getTokenAddress("usdc"), data }, "latest"]),
        ),
      );
    },
    /** Closes the browsers of all persons; answers what the policy stopped or went elsewhere. */
    closeUsers: async (): Promise<string[]> => {
      const closedUsers = users.splice(0);
      await Promise.all(closedUsers.map((user) => user.close()));
      return closedUsers.flatMap(({ violations }) => violations);
    },
    close: async () => {
      await chromium.close();
      await system.close();
      await chain.close();
    },
  };
};

/**
 * Links over a real EVM chain that makes a block for each transaction, a watcher of it, and a browser
 * whose payers have wallets over the chain's node.
 */
export const createCheckout = async ({
  readsTransfers = false,
}: { readsTransfers?: boolean } = {}) => {
  const chain = await startEvmChain();
  const { chains, tokens } = chain.catalogueData;
  const tokensWithReset = tokens.map((token) =>
    token.id === "silent" ? { ...token, approveResetsFirst: true } : token,
  );
  const walletNodes = { ...source, origins: [new URL(chain.url).origin] };
  const catalogueData = {
    chains: chains.map((chainEntry) => ({ ...chainEntry, publicRpcUrl, walletNodes, explorer })),
    tokens: tokensWithReset,
  };
  const system = await createPaymentSystem({
    chain: { ...chain, catalogueData },
    watchesTransfers: readsTransfers,
  });
  await chain.callRpc("evm_setAutomine", [true]);
  const delegate = await deployBatchAccount(chain);
  return createPayers<TestWallet, EvmPayerOptions>({
    chain,
    system,
    createWallet: ({ name, account, options: { batching: status, announceAfterMs = 0 } }) =>
      createWallet({
        name,
        account,
        announceAfterMs,
        nodeUrl: chain.url,
        chainId: chain.chainId,
        ...(status && { batching: { status, delegate } }),
      }),
  });
};
export type Checkout = Awaited<ReturnType<typeof createCheckout>>;
export type Payer = Awaited<ReturnType<Checkout["createPayer"]>>;

/** The payments that a wallet was asked to send; allowances are none. */
export const listPaymentRequests = (wallet: TestWallet) =>
  wallet
    .listSentTransactions()
    .filter(
      ({ data, to }) =>
        to.toLowerCase() === devnet.erc20FeeProxy.toLowerCase() ||
        data.startsWith(transferSelector),
    );

/** Of ERC-20's `transfer(address,uint256)`. */
const transferSelector = "0xa9059cbb";

/** How often a payer's wallet was asked for a payment, by itself or in a batch. */
export const countPaymentRequests = ({ wallet }: Pick<Payer, "wallet">): number =>
  listPaymentRequests(wallet).length + wallet.listBatches().length;

/** Whether the page lets its person pay now. */
export const canPay = async ({ page }: Pick<Payer, "page">): Promise<boolean> => {
  const buttons = await page.getByRole("button", { name: /^Pay / }).all();
  const states = await Promise.all(buttons.map((button) => button.isEnabled()));
  return states.includes(true);
};

/** Clicks on paying, once that is offered. */
export const clickPay = ({ page }: Pick<Payer, "page">): Promise<void> =>
  page.getByRole("button", { name: /^Pay / }).click();

/** Sends a payment that waits for a block; answers its hash. */
export const sendUnminedPayment = async (
  { chain }: Pick<Checkout, "chain">,
  tab: Payer,
): Promise<string> => {
  let hash = "";
  tab.wallet.setHandler("eth_sendTransaction", async (params) => {
    await chain.callRpc("evm_setAutomine", [false]);
    return (hash = String(await tab.wallet.callMethod("eth_sendTransaction", params)));
  });
  await tab.goTo(tab.link.pageUrl);
  await clickPay(tab);
  await tab.waitForText("Sent.");
  tab.wallet.setHandler("eth_sendTransaction");
  return hash;
};

/** The page's own look at its link is left without an answer from now on. */
export const blockStatusPolling = ({ page }: Pick<Payer, "page">): Promise<unknown> =>
  page.route("**/checkout/payment-links/**", () => undefined);
