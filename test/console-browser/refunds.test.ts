import { randomBytes } from "node:crypto";
import { afterAll, afterEach, beforeAll, expect } from "@jest/globals";
import { getBase58Decoder } from "@solana/kit";
import { encodeFunctionData, erc20Abi } from "viem";
import { deriveSolanaReference } from "@payment-links/chains";
import { generateDescriptor } from "@payment-links/chains/testing/generate-descriptor";
import { tronAddressFromHex } from "@payment-links/chains/tron-address";
import { loadCatalogue, newId } from "@payment-links/contracts";
import { type LocalEvmChain, startEvmChain } from "@payment-links/local-chains/evm/start-evm-chain";
import {
  type LocalTronChain,
  startTronChain,
} from "@payment-links/local-chains/tron/start-tron-chain";
import { waitUntil } from "@payment-links/runtime/testing";
import type { OwnPaymentLink } from "../../packages/console/app/api/operations.ts";
import { connectChromium } from "../rig/chromium.ts";
import { createConsole } from "../rig/create-console.ts";
import { findAxeViolations, findLayoutFaults } from "../rig/find-axe-violations.ts";
import { requireChromium } from "../rig/require-chromium.ts";
import { createTronWallet } from "../rig/tron-wallet.ts";
import type { Console, ConsoleUser } from "../rig/use-console.ts";
import { type TestWallet, createWallet, failWith, neverRespond } from "../rig/wallet.ts";

const { describe, test } = requireChromium();

const tronChainNumber = 1_338;

/** Registers a wallet of the Wallet Standard that signs with a fixed signature. */
const registerSolanaWallet = (account: string) => `{
  const wallet = {
    name: "Solana Test",
    chains: ["solana:mainnet"],
    accounts: [],
    features: {
      "standard:connect": { connect: async () => ({ accounts: [{ address: "${account}" }] }) },
      "solana:signAndSendTransaction": {
        signAndSendTransaction: async ({ account, chain, transaction }) => {
          window.askedOfSolana = [account.address, chain, ...transaction];
          return [{ signature: new Uint8Array(64).fill(7) }];
        },
      },
    },
  };
  const register = ({ register: add }) => add(wallet);
  window.addEventListener("wallet-standard:app-ready", ({ detail }) => register(detail));
  window.dispatchEvent(new CustomEvent("wallet-standard:register-wallet", { detail: register }));
}`;

describe("a refund (rule CALLER-44)", () => {
  let chain: LocalEvmChain;
  let tronChain: LocalTronChain;
  let system: Console;
  beforeAll(async () => {
    chain = await startEvmChain();
    await chain.callRpc("evm_setAutomine", [true]);
    const { chains, tokens } = chain.catalogueData;
    const explorer = {
      url: "https://explorer.test",
      source: "this test",
      verifiedOn: "2026-11-30",
    };
    const localChain = { chains: chains.map((entry) => ({ ...entry, explorer })), tokens };
    tronChain = await startTronChain({ finalizedLag: 2, chainId: String(tronChainNumber) });
    await tronChain.callRpc("evm_setAutomine", [true]);
    const catalogue = loadCatalogue(undefined, [localChain, tronChain.catalogueData]);
    system = await createConsole(connectChromium, {}, { catalogue });
  });
  afterEach(async () => {
    expect(await system.closeUsers()).toEqual([]);
  });
  afterAll(async () => {
    await system?.close();
    await chain?.close();
    await tronChain?.close();
  });

  const balanceOf = async (account: string): Promise<bigint> => {
    const data = encodeFunctionData({
      abi: erc20Abi,
      functionName: "balanceOf",
      args: [account as `0x${string}`],
    });
    const call = { to: chain.getTokenAddress("usdc"), data };
    return BigInt(String(await chain.callRpc("eth_call", [call, "latest"])));
  };

  /** Stores a settled payment that completes a link, as links-api does. */
  const insertPayment = async (
    linkId: string,
    payment: { amount: string; hash: string; payer: string | null },
  ): Promise<void> => {
    const id = newId("tx");
    await system.queryLinksDatabase(
      `WITH paid AS (
         UPDATE links_api.links SET received_amount = $3, current_usage = 1, status = 'completed',
           last_transaction_id = $2, version = version + 2
         WHERE id = $1 RETURNING *
       )
       INSERT INTO links_api.payments (id, link_id, version, source, source_id, status, is_applied,
         amount, token_address, chain_id, destination_address, source_transaction, occurred_at,
         first_seen_at, applied_at, ended_at, payer)
       SELECT $2, $1, 1, 'evm:' || chain_id, $4, 'settled', true, $3, token_address, chain_id,
         destination_address, $4, created_at, created_at, created_at, created_at, $5 FROM paid`,
      [linkId, id, payment.amount, payment.hash, payment.payer],
    );
  };

  type Overpaid = {
    user: ConsoleUser;
    wallet: TestWallet;
    linkId: string;
    customer: string;
    readRefunds: () => Promise<OwnPaymentLink["refunds"]>;
  };

  /** Signs up an owner with a wallet, whose link of 25 USDC a customer has paid with 30. */
  const createOverpaidLink = async (
    handle: string,
    { account = chain.payers[2] }: { account?: string } = {},
  ): Promise<Overpaid> => {
    const [customer, , owner] = chain.payers;
    // The wallet starts on another network.
    const wallet = createWallet({ nodeUrl: chain.url, account, chainId: "1" });
    const user = await system.signUp(handle, { wallets: [wallet] });
    await user.call("post", "wallets", { walletAddress: owner, tokenId: "usdc", isDefault: true });
    const { id: linkId } = await user.call("post", "payment-links?mode=test", {
      toAmount: "25",
    });
    const hash = await chain.transferToken({ to: owner, amount: 30_000_000n, payer: 0 });
    // The node mines after it has responded. Tests compare balances from here on.
    await waitUntil("the payment is mined", async () => {
      const receipt = await chain.callRpc("eth_getTransactionReceipt", [hash]);
      return receipt !== null;
    });
    await insertPayment(linkId, { amount: "30", hash, payer: customer });
    const readRefunds = async () =>
      ((await user.call("get", `payment-links/${linkId}`)) as unknown as OwnPaymentLink).refunds;
    return { user, wallet, linkId, customer, readRefunds };
  };

  const openDialog = async ({ user: { goTo, tab }, linkId }: Overpaid) => {
    await goTo(`/test/links/${linkId}`, "30.00 of 25.00 USDC, 5.00 over");
    await tab.page.getByRole("button", { name: "Refund…" }).click();
    return tab.page.getByRole("dialog");
  };

  test("sends the excess from the owner's wallet to the sender, and shows it in the activity", async () => {
    const overpaid = await createOverpaidLink("rf_anna");
    const { customer, readRefunds, user, wallet } = overpaid;
    const { tab } = user;
    const balanceBefore = await balanceOf(customer);
    const dialog = await openDialog(overpaid);
    expect(await dialog.getByLabel("Amount").inputValue()).toBe("5");
    expect(await dialog.getByLabel("Address").inputValue()).toBe(customer);
    await dialog.getByText("USDC on").waitFor();
    await dialog.getByText("its address may not accept refunds").waitFor();
    expect(await findAxeViolations(tab.page)).toEqual([]);
    await dialog.getByRole("button", { name: "Open wallet" }).dblclick();
    await tab.waitForText("Refund recorded");
    await tab.waitForText("Recorded by you. Check the transaction in the explorer.");
    await waitUntil("the dialog is closed", async () => (await dialog.count()) === 0);
    expect(wallet.listSentTransactions()).toHaveLength(1);
    await waitUntil(
      "the customer's balance has grown by the excess",
      async () => (await balanceOf(customer)) === balanceBefore + 5_000_000n,
    );
    const [refund, ...otherRefunds] = await readRefunds();
    expect(otherRefunds).toEqual([]);
    expect(refund).toMatchObject({ amount: "5", destinationAddress: customer });
    const receipt = await chain.callRpc("eth_getTransactionReceipt", [refund?.transactionId]);
    expect(receipt).toMatchObject({ status: "0x1" });
    const explorerLink = tab.page.getByRole("listitem").filter({ hasText: "Refund recorded" });
    expect(await explorerLink.getByRole("link").getAttribute("href")).toBe(
      `https://explorer.test/tx/${refund?.transactionId}`,
    );
    await tab.page.getByRole("button", { name: "Refund…" }).click();
    await dialog.getByText("You already recorded refunds of 5.00 USDC").waitFor();
    expect(await dialog.getByLabel("Amount").inputValue()).toBe("");
    // A refund that another wallet has sent is recorded without this browser's wallet.
    await tab.clickInDialog("Already sent? Record it");
    await dialog.getByLabel("Amount").fill("0.5");
    await dialog.getByLabel("Transaction ID").fill("0x12");
    await tab.clickInDialog("Record refund", "The text is not a transaction ID of this chain.");
    await dialog.getByLabel("Transaction ID").fill(`0x${"cd".repeat(32)}`);
    await tab.clickInDialog("Record refund");
    await waitUntil("the dialog is closed", async () => (await dialog.count()) === 0);
    expect(await readRefunds()).toMatchObject([{ amount: "0.5" }, { amount: "5" }]);
    expect(wallet.listSentTransactions()).toHaveLength(1);
  });

  test("records nothing if the user rejects it, and lets the user try again", async () => {
    const overpaid = await createOverpaidLink("rf_bert");
    const { readRefunds, user, wallet } = overpaid;
    const dialog = await openDialog(overpaid);
    await dialog.getByLabel("Amount").fill("2.5");
    wallet.setHandler("eth_sendTransaction", failWith(4001));
    await user.tab.clickInDialog("Open wallet", "You rejected the request. Nothing was sent.");
    expect(await readRefunds()).toEqual([]);
    expect(await dialog.getByLabel("Amount").inputValue()).toBe("2.5");
    wallet.setHandler("eth_sendTransaction");
    await user.tab.clickInDialog("Open wallet", "Refund recorded");
    expect(await readRefunds()).toMatchObject([{ amount: "2.5" }]);
  });

  test("that could not be recorded is never sent again, and is recorded later", async () => {
    const overpaid = await createOverpaidLink("rf_cleo");
    const { customer, readRefunds, user, wallet } = overpaid;
    const { context, tab } = user;
    const balanceBefore = await balanceOf(customer);
    await context.route("**/refunds", (route) => route.abort());
    let dialog = await openDialog(overpaid);
    const warning = "The refund was sent, but it is not recorded yet. Do not send it again.";
    await tab.clickInDialog("Open wallet", warning);
    const sendButton = () => dialog.getByRole("button", { name: "Open wallet" });
    expect(await sendButton().count()).toBe(0);
    expect(await findAxeViolations(tab.page)).toEqual([]);
    await tab.clickInDialog("Close");
    await tab.page.getByRole("button", { name: "Refund…" }).click();
    await dialog.getByText(warning).waitFor();
    dialog = await openDialog(overpaid);
    await dialog.getByText(warning).waitFor();
    expect(await sendButton().count()).toBe(0);
    await tab.clickInDialog("Record refund");
    await dialog.getByRole("alert").waitFor();
    await context.unroute("**/refunds");
    await tab.clickInDialog("Record refund", "Refund recorded");
    expect(await readRefunds()).toMatchObject([{ amount: "5" }]);
    expect(wallet.listSentTransactions()).toHaveLength(1);
    await waitUntil(
      "the customer's balance has grown by the excess",
      async () => (await balanceOf(customer)) === balanceBefore + 5_000_000n,
    );
  });

  test("whose wallet does not answer is not offered again after a reload, until the user says that it was not sent", async () => {
    const account = chain.payers[1];
    const overpaid = await createOverpaidLink("rf_dora", { account });
    const { readRefunds, user, wallet } = overpaid;
    const { tab } = user;
    wallet.setHandler("eth_sendTransaction", neverRespond);
    let dialog = await openDialog(overpaid);
    await tab.clickInDialog("Open wallet", "Confirm the refund of 5.00 USDC in your wallet.");
    await dialog.getByText("This is not the wallet that received the payment.").waitFor();
    await tab.clickInDialog("Close");
    await tab.page.getByRole("button", { name: "Refund…" }).click();
    await dialog.getByText("Confirm the refund of 5.00 USDC in your wallet.").waitFor();
    dialog = await openDialog(overpaid);
    await dialog.getByText("Your wallet may have sent 5.00 USDC").waitFor();
    expect(await dialog.getByRole("button", { name: "Open wallet" }).count()).toBe(0);
    await dialog.getByRole("button", { name: "It was not sent" }).click();
    const confirmation = tab.page.getByRole("dialog", { name: "Send the refund again?" });
    await confirmation.getByRole("button", { name: "Cancel" }).click();
    expect(await dialog.getByRole("button", { name: "Open wallet" }).count()).toBe(0);
    await dialog.getByRole("button", { name: "It was not sent" }).click();
    await confirmation.getByRole("button", { name: "It was not sent" }).click();
    await dialog.getByRole("button", { name: "Open wallet" }).waitFor();
    expect(wallet.listSentTransactions()).toHaveLength(1);
    expect(await readRefunds()).toEqual([]);
  });

  test("on Tron is sent by the owner's TronWeb wallet", async () => {
    const [customer, , owner] = tronChain.payers;
    const wallet = createTronWallet({
      nodeUrl: tronChain.url,
      evmUrl: tronChain.evmUrl,
      account: owner,
      chainNumber: tronChainNumber,
    });
    const user = await system.signUp("rf_finn", { wallets: [wallet] });
    const walletAddress = tronAddressFromHex(owner);
    const tokenId = "usdc-local-tron";
    await user.call("post", "wallets", { walletAddress, tokenId, isDefault: true });
    const { id: linkId } = await user.call("post", "payment-links?mode=test", {
      toAmount: "25",
    });
    const hash = `0x${randomBytes(32).toString("hex")}`;
    await insertPayment(linkId, { amount: "30", hash, payer: tronAddressFromHex(customer) });
    const readReceived = async () =>
      tronChain.readReceived(customer, "usdc", await tronChain.readHeadNumber());
    const { amount: amountBefore } = await readReceived();
    await user.goTo(`/test/links/${linkId}`, "Payment succeeded");
    await user.tab.page.getByRole("button", { name: "Refund…" }).click();
    await user.tab.clickInDialog("Open wallet", "Refund recorded");
    await waitUntil(
      "the customer has received the excess",
      async () => (await readReceived()).amount === amountBefore + 5_000_000n,
    );
    const link = (await user.call("get", `payment-links/${linkId}`)) as unknown as OwnPaymentLink;
    expect(link.refunds).toMatchObject([
      { amount: "5", destinationAddress: tronAddressFromHex(customer) },
    ]);
  });

  test("on Solana is sent by a wallet of the Wallet Standard, as the service's transaction", async () => {
    const createAddress = () => deriveSolanaReference(randomBytes(16).toString("hex"));
    const [owner, customer] = [createAddress(), createAddress()];
    const user = await system.signUp("rf_gina");
    const { context, tab } = user;
    await context.addInitScript(registerSolanaWallet(owner));
    const wallet = { walletAddress: owner, tokenId: "usdc-solana", isDefault: true };
    await user.call("post", "wallets", wallet);
    const { id: linkId } = await user.call("post", "payment-links", { toAmount: "25" });
    await insertPayment(linkId, { amount: "30", hash: "signature", payer: customer });
    // No node of Solana runs here, so the service cannot build the transaction.
    await context.route("**/refund-instructions", async (route) => {
      const { account } = route.request().postDataJSON() as { account?: string };
      if (account === undefined) return route.continue();
      expect(account).toBe(owner);
      const instructions = {
        amount: "5",
        destinationAddress: customer,
        wallet: "wallet-standard",
        chain: "solana:mainnet",
        call: null,
        transaction: Buffer.from([1, 2, 3]).toString("base64"),
        uri: null,
      };
      await route.fulfill({ json: instructions });
    });
    await user.goTo(`/links/${linkId}`, "Payment succeeded");
    await tab.page.getByRole("button", { name: "Refund…" }).click();
    await tab.clickInDialog("Open wallet", "Refund recorded");
    expect(await tab.page.evaluate("window.askedOfSolana")).toEqual([
      owner,
      "solana:mainnet",
      1,
      2,
      3,
    ]);
    const link = (await user.call("get", `payment-links/${linkId}`)) as unknown as OwnPaymentLink;
    const signature = getBase58Decoder().decode(new Uint8Array(64).fill(7));
    expect(link.refunds).toMatchObject([
      { transactionId: signature, destinationAddress: customer },
    ]);
  });

  test("on Bitcoin is shown as a payment request, and its transaction is recorded by hand", async () => {
    const user = await system.signUp("rf_emil", { viewport: { width: 320, height: 640 } });
    const { goTo, tab } = user;
    const key = { walletAddress: generateDescriptor(), tokenId: "btc", isDefault: true };
    await user.call("post", "wallets", key);
    const { id: linkId } = await user.call("post", "payment-links", { toAmount: "0.001" });
    const hash = randomBytes(32).toString("hex");
    await insertPayment(linkId, { amount: "0.003", hash, payer: null });
    await goTo(`/links/${linkId}`, "Payment succeeded");
    await tab.page.getByRole("button", { name: "Refund…" }).click();
    const dialog = tab.page.getByRole("dialog");
    await dialog.getByText("This payment has no known sender.").waitFor();
    expect(await dialog.getByLabel("Amount").inputValue()).toBe("0.002");
    await dialog.getByLabel("Address").fill("not an address");
    await tab.clickInDialog("Open wallet", "The address is not valid on the token's chain.");
    const address = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4";
    await dialog.getByLabel("Address").fill(address);
    await tab.clickInDialog("Open wallet", "Scan the code with your wallet app");
    await dialog.getByRole("img", { name: "QR code of the refund" }).waitFor();
    const appLink = dialog.getByRole("link", { name: "Open wallet app" });
    expect(await appLink.getAttribute("href")).toBe(`bitcoin:${address}?amount=0.002`);
    expect(await findAxeViolations(tab.page)).toEqual([]);
    expect(await findLayoutFaults(tab.page)).toEqual([]);
    await dialog.getByLabel("Transaction ID").fill("none");
    // A click could be ignored here, because the button is where the last one was (a double click).
    await dialog.getByLabel("Transaction ID").press("Enter");
    await tab.waitForText("The text is not a transaction ID of this chain.");
    const transactionId = randomBytes(32).toString("hex");
    await dialog.getByLabel("Transaction ID").fill(transactionId);
    await tab.clickInDialog("Record refund", "Refund recorded");
    const link = (await user.call("get", `payment-links/${linkId}`)) as unknown as OwnPaymentLink;
    expect(link.refunds).toMatchObject([{ amount: "0.002", transactionId, chainId: "bitcoin" }]);
  });
});
