import type { BrowserContextOptions } from "playwright-core";
import { type SendReceipt, devnet } from "@payment-links/contracts";
import { type LocalEvmChain, startEvmChain } from "@payment-links/local-chains/evm/start-evm-chain";
import { waitUntil } from "@payment-links/runtime/testing";
import { compileContracts } from "@payment-links/local-chains/evm/compile-contracts";
import { type BrowserUser, connectChromium } from "./chromium.ts";
import { type LinkOptions, type PaymentSystem, createPaymentSystem } from "./payment-system.ts";
import {
  type BatchSupport,
  type InstalledWallet,
  type TestWallet,
  createWallet,
} from "./wallet.ts";

/** One of the chain's prefunded payers, with a large balance and an unlimited allowance. */
const defaultPayer = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

/**
 * The RPC URL that the page passes to a wallet that does not know the chain. It does not receive
 * requests.
 */
export const publicRpcUrl = "https://rpc.test/";

const source = { source: "this test", verifiedOn: "2026-11-22" };

/** This host does not receive requests. */
const explorer = { ...source, url: "https://explorer.test" };

export type PayerOptions = LinkOptions & {
  account?: string;
  /** The names of the wallets in the payer's browser. */
  walletNames?: readonly string[];
  /** Whether the wallets only announce themselves when the test says so. */
  announcesLate?: boolean;
};

type EvmPayerOptions = PayerOptions & {
  /** How the wallets support batched calls. By default, they do not support them. */
  batching?: BatchSupport["status"];
};

/**
 * Makes the page poll ten times as often as its usual 2 or 4 seconds. Also makes it wait only 4
 * seconds instead of 20 for a wallet's response before it offers an alternative.
 */
const shortenTimersScript = `for (const name of ["setTimeout", "setInterval"]) {
  const start = window[name];
  const shorten = (ms) => (ms >= 2_000 && ms <= 4_000 ? ms / 10 : ms === 20_000 ? 4_000 : ms);
  window[name] = (work, ms, ...params) => start(work, shorten(ms), ...params);
}`;

const deployBatchAccount = async (chain: LocalEvmChain): Promise<string> => {
  const bytecodes = await compileContracts(new URL("batch-account.sol", import.meta.url));
  const data = bytecodes["BatchAccount"];
  const receipt = await sendMinedTransaction(chain, { from: defaultPayer, data });
  return (receipt as { contractAddress: string }).contractAddress;
};

/**
 * Sends a transaction of an account whose key the node has. Returns its receipt once it is in a
 * block, which is shortly after the node has responded.
 */
const sendMinedTransaction = async (
  chain: LocalEvmChain,
  transaction: { from: string; to?: string; data: string | undefined },
): Promise<unknown> => {
  const hash = await chain.callRpc("eth_sendTransaction", [transaction]);
  let receipt: unknown;
  await waitUntil("the transaction is in a block", async () => {
    receipt = await chain.callRpc("eth_getTransactionReceipt", [hash]);
    return receipt !== null;
  });
  return receipt;
};

const abiWord = (hex: string): string => hex.replace(/^0x/, "").toLowerCase().padStart(64, "0");

type CreatedLink = Awaited<ReturnType<PaymentSystem["createLink"]>>;

type PayersContext<Wallet, Options> = {
  chain: LocalEvmChain;
  system: PaymentSystem;
  createWallet: (walletDetails: { name: string; account: string; options: Options }) => Wallet;
};

/**
 * Creates a browser for links on a watched chain. The payers have wallets that use the chain's
 * node.
 */
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
    /** Creates a payer with a wallet and an open tab, and a link, unless one is given. */
    createPayer: async (
      options: Options,
      browserOptions: BrowserContextOptions = {},
      givenLink?: CreatedLink,
    ) => {
      const {
        account = defaultPayer,
        walletNames = ["Test"],
        ...linkOptions
      }: PayerOptions = options;
      const link = givenLink ?? (await system.createLink(linkOptions));
      const wallets = walletNames.map((name) => createWallet({ name, account, options }));
      const [wallet] = wallets;
      if (wallet === undefined) throw new Error("a payer needs a wallet");
      const user = await createUser({ ...browserOptions, wallets });
      const tab = await user.openTab();
      /** Opens the link's page, and waits until it contains a text, if one is given. */
      const open = (expectedText?: string) => tab.goTo(link.pageUrl, expectedText);
      /** Opens the link's page, starts to pay, and waits for the text. */
      const startPayment = async (expectedText?: string): Promise<void> => {
        await open();
        await clickPay(tab);
        if (expectedText !== undefined) await tab.waitForText(expectedText);
      };
      return { link, wallet, wallets, user, ...tab, open, startPayment };
    },
    /** Mints tokens to an account. The node has the key of the account that sends them. */
    mint: (to: string, amount: bigint, from = to) =>
      sendMinedTransaction(chain, {
        from,
        to: chain.getTokenAddress("usdc"),
        data: `0x40c10f19${abiWord(to)}${abiWord(amount.toString(16))}`,
      }),
    /** Sets the allowance of an account, whose key the node has, for the payment contract. */
    approve: (
      from: string,
      amount: bigint,
      tokenName: Parameters<LocalEvmChain["getTokenAddress"]>[0] = "usdc",
    ) =>
      sendMinedTransaction(chain, {
        from,
        to: chain.getTokenAddress(tokenName),
        data: `0x095ea7b3${abiWord(devnet.erc20FeeProxy)}${abiWord(amount.toString(16))}`,
      }),
    /** Returns the account's token balance in base units. */
    balanceOf: async (account: string): Promise<bigint> => {
      const data = `0x70a08231${abiWord(account)}`;
      return BigInt(
        String(
          await chain.callRpc("eth_call", [{ to: chain.getTokenAddress("usdc"), data }, "latest"]),
        ),
      );
    },
    /**
     * Closes the browsers of all users. Returns the violations of the content security policy and
     * the requests to other origins.
     */
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
 * Starts a real EVM chain, a watcher of that chain, and a browser. The chain mines a block for each
 * transaction. The payers in the browser have wallets that use the chain's node.
 */
export const createCheckout = async ({
  readsTransfers = false,
  sendReceipt,
}: { readsTransfers?: boolean; sendReceipt?: SendReceipt } = {}) => {
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
    ...(sendReceipt === undefined ? {} : { sendReceipt }),
  });
  await chain.callRpc("evm_setAutomine", [true]);
  const delegate = await deployBatchAccount(chain);
  return createPayers<TestWallet, EvmPayerOptions>({
    chain,
    system,
    createWallet: ({ name, account, options: { batching: status, announcesLate = false } }) =>
      createWallet({
        name,
        account,
        announcesLate,
        nodeUrl: chain.url,
        chainId: chain.chainId,
        ...(status && { batching: { status, delegate } }),
      }),
  });
};
export type Checkout = Awaited<ReturnType<typeof createCheckout>>;
export type Payer = Awaited<ReturnType<Checkout["createPayer"]>>;

/** Returns the payments that a wallet was asked to send, without token approvals. */
export const listPaymentRequests = (wallet: TestWallet) =>
  wallet
    .listSentTransactions()
    .filter(
      ({ data, to }) =>
        to.toLowerCase() === devnet.erc20FeeProxy.toLowerCase() ||
        data.startsWith(transferSelector),
    );

/** The selector of ERC-20's `transfer(address,uint256)`. */
const transferSelector = "0xa9059cbb";

/**
 * Returns the number of payments that a payer's wallet was asked to send, individually or in a
 * batch.
 */
export const countPaymentRequests = ({ wallet }: Pick<Payer, "wallet">): number =>
  listPaymentRequests(wallet).length + wallet.listBatches().length;

/** Returns true if the payer can currently pay on the page. */
export const canPay = async ({ page }: Pick<Payer, "page">): Promise<boolean> => {
  const buttons = await page.getByRole("button", { name: /^Pay / }).all();
  const states = await Promise.all(buttons.map((button) => button.isEnabled()));
  return states.includes(true);
};

/** Returns true if the page says that a payment is possibly in progress. */
export const showsPendingPayment = async ({
  readText,
}: Pick<Payer, "readText">): Promise<boolean> =>
  /do not pay again|has not reported a result/i.test(await readText());

/** Clicks the pay button once it is enabled. */
export const clickPay = ({ page }: Pick<Payer, "page">): Promise<void> =>
  page.getByRole("button", { name: /^Pay / }).click();

/** Sends a payment that stays unmined. Returns its hash. */
export const sendUnminedPayment = async (
  { chain }: Pick<Checkout, "chain">,
  tab: Payer,
): Promise<string> => {
  let hash = "";
  tab.wallet.setHandler("eth_sendTransaction", async (params) => {
    await chain.callRpc("evm_setAutomine", [false]);
    return (hash = String(await tab.wallet.callMethod("eth_sendTransaction", params)));
  });
  await tab.startPayment("Sent.");
  tab.wallet.setHandler("eth_sendTransaction");
  return hash;
};

/** Blocks the page's status requests for its link from now on. They do not get a response. */
export const blockStatusPolling = ({ page }: Pick<Payer, "page">): Promise<unknown> =>
  page.route("**/checkout/payment-links/**", () => undefined);
