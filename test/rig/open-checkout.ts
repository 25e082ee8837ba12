import type { BrowserContextOptions } from "playwright-core";
import { devnet } from "@payment-links/contracts";
import { type Chain, openChain } from "@payment-links/settlement-listener/testing";
import { waitUntil } from "@payment-links/runtime/testing";
import { compileContracts } from "../../services/settlement-listener/src/testing/compile-contracts.ts";
import { type Person, connectChromium } from "./chromium.ts";
import { type LinkOrder, type PaymentSystem, openPaymentSystem } from "./payment-system.ts";
import { type Batching, type GivenWallet, type TestWallet, openWallet } from "./wallet.ts";

/** One of the chain's payers, whom it lets hold plenty and allow everything. */
const payer = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

/** What the page tells a wallet that does not know the chain; nobody asks there. */
export const publicRpcUrl = "https://rpc.test/";

const source = { source: "this test", verifiedOn: "2026-11-22" };

/** Nobody looks there. */
const explorer = { ...source, url: "https://explorer.test" };

export type PayerOptions = LinkOrder & {
  account?: string;
  /** The names of the wallets in the payer's browser. */
  walletNames?: readonly string[];
  /** When they make themselves known; at once if not given. */
  announceAfterMs?: number;
};

type EvmPayerOptions = PayerOptions & {
  /** How the wallets carry out several calls as one; not at all if not given. */
  batching?: Batching["status"];
};

/**
 * The page looks again every two or four seconds; here it looks ten times as often. It waits twenty seconds for a
 * wallet's answer before it offers a way on; here it waits four.
 */
const shortPauses = `for (const name of ["setTimeout", "setInterval"]) {
  const start = window[name];
  const shorten = (ms) => (ms >= 2_000 && ms <= 4_000 ? ms / 10 : ms === 20_000 ? 4_000 : ms);
  window[name] = (work, ms, ...params) => start(work, shorten(ms), ...params);
}`;

const deployDelegate = async (chain: Chain): Promise<string> => {
  const codes = await compileContracts(new URL("batch-account.sol", import.meta.url));
  const hash = await chain.ask("eth_sendTransaction", [
    { from: payer, data: codes["BatchAccount"] },
  ]);
  // It is in a block soon after the node has answered.
  let receipt: unknown;
  await waitUntil("the contract's receipt", async () => {
    receipt = await chain.ask("eth_getTransactionReceipt", [hash]);
    return receipt !== null;
  });
  return (receipt as { contractAddress: string }).contractAddress;
};

type Ground<Wallet, Options> = {
  chain: Chain;
  system: PaymentSystem;
  /** Opens a wallet of a payer's. */
  openWallet: (known: { name: string; account: string; options: Options }) => Wallet;
};

/** A browser over links that are watched, whose payers have wallets over the chain's node. */
export const openPayers = async <Wallet extends GivenWallet, Options extends PayerOptions>({
  chain,
  system,
  openWallet: open,
}: Ground<Wallet, Options>) => {
  await system.startWatcher();
  await chain.ask("evm_setAutomine", [true]);
  const chromium = await connectChromium();
  const persons: Person[] = [];

  const openPerson = async (options: Partial<Parameters<typeof chromium.openPerson>[0]>) => {
    const person = await chromium.openPerson({ origin: system.publicUrl, ...options });
    await person.context.addInitScript(shortPauses);
    persons.push(person);
    return person;
  };
  return {
    chain,
    system,
    openPerson,
    /** A new link, and somebody with a wallet in front of a tab. */
    openPayer: async (options: Options, browser: BrowserContextOptions = {}) => {
      const { account = payer, walletNames = ["Test"], ...order }: PayerOptions = options;
      const link = await system.createLink(order);
      const wallets = walletNames.map((name) => open({ name, account, options }));
      const [wallet] = wallets;
      if (wallet === undefined) throw new Error("a payer has a wallet");
      const person = await openPerson({ ...browser, wallets });
      return { link, wallet, wallets, person, ...(await person.openTab()) };
    },
    /** Gives an account of the node's as much of the token as it then pays. */
    mint: (to: string, units: bigint) => {
      const words = [to.slice(2).toLowerCase(), units.toString(16)];
      const data = `0x40c10f19${words.map((word) => word.padStart(64, "0")).join("")}`;
      return chain.ask("eth_sendTransaction", [{ from: to, to: chain.addressOf("usdc"), data }]);
    },
    /** How many base units of the token an account holds. */
    balanceOf: async (holder: string): Promise<bigint> => {
      const data = `0x70a08231${holder.slice(2).toLowerCase().padStart(64, "0")}`;
      return BigInt(
        String(await chain.ask("eth_call", [{ to: chain.addressOf("usdc"), data }, "latest"])),
      );
    },
    /** Closes the browsers of all persons; answers what the policy stopped or went elsewhere. */
    closePersons: async (): Promise<string[]> => {
      const closed = persons.splice(0);
      await Promise.all(closed.map((person) => person.close()));
      return closed.flatMap(({ faults }) => faults);
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
export const openCheckout = async ({
  readsTransfers = false,
}: { readsTransfers?: boolean } = {}) => {
  const chain = await openChain();
  const { chains, tokens } = chain.catalogueData;
  const resetting = tokens.map((token) =>
    token.id === "silent" ? { ...token, approveResetsFirst: true } : token,
  );
  const walletNodes = { ...source, origins: [new URL(chain.url).origin] };
  const catalogueData = {
    chains: chains.map((one) => ({ ...one, publicRpcUrl, walletNodes, explorer })),
    tokens: resetting,
  };
  const system = await openPaymentSystem({ chain: { ...chain, catalogueData }, readsTransfers });
  await chain.ask("evm_setAutomine", [true]);
  const delegate = await deployDelegate(chain);
  return openPayers<TestWallet, EvmPayerOptions>({
    chain,
    system,
    openWallet: ({ name, account, options: { batching: status, announceAfterMs = 0 } }) =>
      openWallet({
        name,
        account,
        announceAfterMs,
        nodeUrl: chain.url,
        chainId: chain.chainId,
        ...(status && { batching: { status, delegate } }),
      }),
  });
};
export type Checkout = Awaited<ReturnType<typeof openCheckout>>;
export type Payer = Awaited<ReturnType<Checkout["openPayer"]>>;

/** The payments that a wallet was asked to send; allowances are none. */
export const paymentsOf = (wallet: TestWallet) =>
  wallet
    .sent()
    .filter(
      ({ data, to }) =>
        to.toLowerCase() === devnet.erc20FeeProxy.toLowerCase() ||
        data.startsWith(transferSelector),
    );

/** Of ERC-20's `transfer(address,uint256)`. */
const transferSelector = "0xa9059cbb";

/** How often a payer's wallet was asked for a payment, by itself or in a batch. */
export const countAsked = ({ wallet }: Pick<Payer, "wallet">): number =>
  paymentsOf(wallet).length + wallet.batches().length;

/** Whether the page lets its person pay now. */
export const mayPay = async ({ page }: Pick<Payer, "page">): Promise<boolean> => {
  const buttons = await page.getByRole("button", { name: /^Pay / }).all();
  const states = await Promise.all(buttons.map((button) => button.isEnabled()));
  return states.includes(true);
};

/** Clicks on paying, once that is offered. */
export const clickPay = ({ page }: Pick<Payer, "page">): Promise<void> =>
  page.getByRole("button", { name: /^Pay / }).click();

/** Sends a payment that waits for a block; answers its hash. */
export const payUnmined = async (
  { chain }: Pick<Checkout, "chain">,
  tab: Payer,
): Promise<string> => {
  let hash = "";
  tab.wallet.decide("eth_sendTransaction", async (params) => {
    await chain.ask("evm_setAutomine", [false]);
    return (hash = String(await tab.wallet.answer("eth_sendTransaction", params)));
  });
  await tab.goTo(tab.link.pageUrl);
  await clickPay(tab);
  await tab.see("Sent.");
  tab.wallet.decide("eth_sendTransaction");
  return hash;
};

/** The page's own look at its link is left without an answer from now on. */
export const holdLooks = ({ page }: Pick<Payer, "page">): Promise<unknown> =>
  page.route("**/checkout/payment-links/**", () => undefined);
