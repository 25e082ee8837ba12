import { afterAll, beforeAll, expect } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { requireChromium } from "../rig/require-chromium.ts";
import {
  type Checkout,
  type Payer,
  countPaymentRequests,
  createCheckout,
} from "../rig/create-checkout.ts";
import { WalletError } from "../rig/wallet.ts";
import { type Random, createRandom } from "../simulation/random.ts";
import { injectDelay } from "@payment-links/runtime/testing/inject-delay";

const { describe, test } = requireChromium();

const seed = Number(process.env["SEED"] ?? Math.floor(Math.random() * 2 ** 32));
const raceCount = Number(process.env["RACES"] ?? 50);
const actionsMax = 8;
const walletMsMax = 60;
/** All delays together take about as long as reporting a payment. */
const actionDelayMsMax = 250;

/**
 * An account with tokens but without an allowance. The wallet batches the approval and the payment.
 */
const batchingOptions = {
  account: "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65",
  batching: "supported",
} as const;

let rig: Checkout;

beforeAll(async () => {
  rig = await createCheckout();
  // Only the page itself prevents a second payment.
  await rig.system.stopWatchers();
  await rig.mint(batchingOptions.account, BigInt(raceCount) * 25_000_000n);
});
afterAll(() => rig?.close());

const slowMethods = [
  "eth_requestAccounts",
  "eth_chainId",
  "eth_call",
  "eth_sendTransaction",
  "wallet_sendCalls",
];

/** Makes a wallet slow and its node unreliable. */
const makeUnreliable = ({ wallet }: Payer, random: Random): void => {
  for (const method of slowMethods) {
    wallet.setHandler(method, async (params) => {
      await injectDelay("human pause", random.below(walletMsMax));
      const walletResponse = await wallet.callMethod(method, params);
      await injectDelay("human pause", random.below(walletMsMax));
      return walletResponse;
    });
  }
  for (const method of ["eth_getTransactionReceipt", "wallet_getCallsStatus"]) {
    wallet.setHandler(method, (params) => {
      if (random.chance(0.3)) throw new WalletError(-32603, "the node is away");
      return wallet.callMethod(method, params);
    });
  }
};

// Simulates an impatient payer. A disabled button ignores the click.
const clickTwiceScript = `{
  const button = [...document.querySelectorAll("button")].find((one) => /^Pay/.test(one.innerText));
  button?.click();
  button?.click();
}`;

const runRace = async (random: Random): Promise<number> => {
  const payer = await rig.createPayer({
    toAmount: "25",
    ...(random.chance(0.5) && batchingOptions),
  });
  makeUnreliable(payer, random);
  const tabs = [payer, await payer.user.openTab()];
  for (const { goTo } of tabs) await goTo(payer.link.pageUrl);
  // Ensures at least one click, regardless of the other actions.
  await payer.page.evaluate(clickTwiceScript);
  for (
    let remainingActions = random.below(actionsMax);
    remainingActions > 0;
    remainingActions -= 1
  ) {
    const { page } = random.pick(tabs);
    await injectDelay("human pause", random.below(actionDelayMsMax));
    // Clicking or reloading fails while the page is navigating.
    if (random.chance(0.4)) await page.reload().catch(() => undefined);
    else await page.evaluate(clickTwiceScript).catch(() => undefined);
  }
  const isPaid = async () => {
    await payer.page.evaluate(clickTwiceScript).catch(() => undefined);
    return countPaymentRequests(payer) > 0;
  };
  await waitUntil("the link is paid", isPaid);
  for (const { page, waitForText } of tabs) {
    await page.reload();
    await page.evaluate(clickTwiceScript);
    await waitForText("o not pay again");
  }
  return countPaymentRequests(payer);
};

describe("fifty payers who double-click and reload at random moments", () => {
  test(`pay once each (SEED=${seed})`, async () => {
    process.stderr.write(`races of the checkout: SEED=${seed}\n`);
    const random = createRandom(seed);
    const paymentCounts: number[] = [];
    for (let index = 0; index < raceCount; index += 1) {
      paymentCounts.push(await runRace(random));
      expect(await rig.closeUsers()).toEqual([]);
    }
    expect(paymentCounts).toEqual(paymentCounts.map(() => 1));
  }, 600_000);
});
