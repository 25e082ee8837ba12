import { afterAll, beforeAll, expect } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { needingChromium } from "../rig/find-chromium.ts";
import { type Checkout, type Payer, countAsked, openCheckout } from "../rig/open-checkout.ts";
import { WalletError } from "../rig/wallet.ts";
import { type Random, createRandom } from "../simulation/random.ts";
import { injectDelay } from "@payment-links/runtime/testing/inject-delay";

const { describe, test } = needingChromium();

const seed = Number(process.env["SEED"] ?? Math.floor(Math.random() * 2 ** 32));
const races = Number(process.env["RACES"] ?? 50);
const movesMax = 8;
const walletMsMax = 60;
/** In all, about as long as it takes until a payment is told of. */
const moveMsMax = 250;

/** Known to the node; it has tokens and allows nothing, so that allowance and payment are one batch. */
const batching = {
  account: "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65",
  batching: "supported",
} as const;

let rig: Checkout;

beforeAll(async () => {
  rig = await openCheckout();
  // The page alone keeps its payer from paying twice.
  await rig.system.stopWatchers();
  await rig.mint(batching.account, BigInt(races) * 25_000_000n);
});
afterAll(() => rig?.close());

const slowMethods = [
  "eth_requestAccounts",
  "eth_chainId",
  "eth_call",
  "eth_sendTransaction",
  "wallet_sendCalls",
];

/** A wallet that takes its time, and whose node fails now and then. */
const makeMoody = ({ wallet }: Payer, random: Random): void => {
  for (const method of slowMethods) {
    wallet.decide(method, async (params) => {
      await injectDelay("human pause", random.below(walletMsMax));
      const answer = await wallet.answer(method, params);
      await injectDelay("human pause", random.below(walletMsMax));
      return answer;
    });
  }
  for (const method of ["eth_getTransactionReceipt", "wallet_getCallsStatus"]) {
    wallet.decide(method, (params) => {
      if (random.chance(0.3)) throw new WalletError(-32603, "the node is away");
      return wallet.answer(method, params);
    });
  }
};

// As a person may who sees nothing happen; a button that cannot be clicked takes no click.
const clickTwice = `{
  const button = [...document.querySelectorAll("button")].find((one) => /^Pay/.test(one.innerText));
  button?.click();
  button?.click();
}`;

const race = async (random: Random): Promise<number> => {
  const payer = await rig.openPayer({ toAmount: "25", ...(random.chance(0.5) && batching) });
  makeMoody(payer, random);
  const tabs = [payer, await payer.person.openTab()];
  for (const { goTo } of tabs) await goTo(payer.link.pageUrl);
  // At least one click, whatever else is done.
  await payer.page.evaluate(clickTwice);
  for (let moves = random.below(movesMax); moves > 0; moves -= 1) {
    const { page } = random.pick(tabs);
    await injectDelay("human pause", random.below(moveMsMax));
    // A page that is just going away can be neither clicked nor loaded anew.
    if (random.chance(0.4)) await page.reload().catch(() => undefined);
    else await page.evaluate(clickTwice).catch(() => undefined);
  }
  const isPaid = async () => {
    await payer.page.evaluate(clickTwice);
    return countAsked(payer) > 0;
  };
  await waitUntil("a payment", isPaid);
  for (const { page, see } of tabs) {
    await page.reload();
    await page.evaluate(clickTwice);
    await see("o not pay again");
  }
  return countAsked(payer);
};

describe("fifty payers who click twice and load anew at any moment", () => {
  test(`pay once each (SEED=${seed})`, async () => {
    process.stderr.write(`races of the checkout: SEED=${seed}\n`);
    const random = createRandom(seed);
    const counts: number[] = [];
    for (let count = 0; count < races; count += 1) {
      counts.push(await race(random));
      expect(await rig.closePersons()).toEqual([]);
    }
    expect(counts).toEqual(counts.map(() => 1));
  }, 600_000);
});
