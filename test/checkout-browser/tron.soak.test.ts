import { expect } from "@jest/globals";
import { waitUntil } from "@payment-links/runtime/testing";
import { needingChromium } from "../rig/find-chromium.ts";
import { clickPay, mayPay } from "../rig/open-checkout.ts";
import { changes, refusals, rich, seen, useTronPayers } from "../rig/use-tron-payers.ts";
import { walkByKeyboard } from "../rig/walk-by-keyboard.ts";
import { never } from "../rig/wallet.ts";

const { describe, test } = needingChromium();

/** More than the time in which a transaction of the wallet's expires. */
const blocksUntilExpired = 30;

const {
  rig,
  openPayer,
  openRichPayer,
  goToPay,
  expectNothingPaid,
  expectToldWhy,
  expectNotSigned,
} = useTronPayers();

describe("a payer with a wallet for Tron", () => {
  test("of before TIP-6963 pays as well", async () => {
    const payer = await openRichPayer({ isOld: true });
    await goToPay(payer);
    await payer.see(seen);
    const asked = payer.wallet.asked.map(({ method }) => method);
    expect(asked).toContain("tron_requestAccounts");
    expect(asked).not.toContain("eth_requestAccounts");
  });

  test("that makes itself known late is found; until then TronLink's own browser is offered to a phone", async () => {
    const payer = await openRichPayer({ announceAfterMs: 3_000 });
    await payer.goTo(payer.link.pageUrl);
    await payer.see("There is no Tron wallet in this browser.");
    await clickPay(payer);
    await payer.see(seen);
    expect(await payer.text()).not.toContain("There is no Tron wallet");
  });

  test("pays by Tab and Enter alone, and reads German", async () => {
    const payer = await rig.openPayer({ toAmount: "25", account: rich }, { locale: "de-DE" });
    const { page } = payer;
    await payer.goTo(payer.link.pageUrl);
    await payer.see("25 USDC zahlen");
    expect(await walkByKeyboard(page)).toEqual([]);
    await page.getByRole("button", { name: "25 USDC zahlen" }).focus();
    payer.wallet.decide("trx.sign", async (params) => {
      await payer.see("nie mehr als 168");
      return payer.wallet.answer("trx.sign", params);
    });
    await page.keyboard.press("Enter");
    await payer.see("Zahlen Sie nicht noch einmal.");
    expect(payer.wallet.countSent()).toBe(1);
  });
});

describe("one payment, and no second:", () => {
  test("after a reload once it was sent", async () => {
    const payer = await openRichPayer();
    await rig.system.stopWatchers();
    await goToPay(payer);
    await payer.see("Do not pay again. Transaction");
    await payer.page.reload();
    await payer.see(`In a block. Waiting until it is seen here.`);
    expect(await mayPay(payer)).toBe(false);
    await rig.system.startWatcher();
    await payer.see(seen);
    await rig.chain.mine(3);
    await payer.see("This payment link has been paid.");
    expect(payer.wallet.countSent()).toBe(1);
  });

  test("nor a second allowance after a reload, while the first waits for its block", async () => {
    const payer = await openPayer();
    await payer.goTo(payer.link.pageUrl);
    await rig.chain.ask("evm_setAutomine", [false]);
    await clickPay(payer);
    await payer.see("The allowance was sent; no payment yet.");
    await payer.page.reload();
    await clickPay(payer);
    await payer.see("The allowance was sent; no payment yet.");
    await rig.chain.ask("evm_setAutomine", [true]);
    await rig.chain.mine();
    await payer.see(seen);
    expect(payer.wallet.toSign()).toHaveLength(2);
  });

  test("where the wallet never answers: nothing is sent once the time is over, and it may be paid again", async () => {
    const payer = await openRichPayer();
    let confirm: (signed: unknown) => void = () => undefined;
    payer.wallet.decide("trx.sign", () => new Promise((resolve) => (confirm = resolve)));
    await goToPay(payer);
    await waitUntil("the wallet is asked", () => payer.wallet.toSign().length === 1);
    await rig.chain.mine(blocksUntilExpired);
    await waitUntil("it is forgotten", async () =>
      payer.page.evaluate(
        `Object.values(localStorage).every((kept) => JSON.parse(kept).payment === undefined)`,
      ),
    );
    // What somebody confirms only now is not sent.
    confirm(payer.wallet.answer("trx.sign", [payer.wallet.toSign()[0]]));
    await waitUntil("it may be paid", () => mayPay(payer));
    await expectNothingPaid(payer, "No block took your payment in its time");
    expect(payer.wallet.countSent()).toBe(0);
  });
});

describe("a payer", () => {
  test.each(refusals)("%s is told so, and may try again", (_who, refuse, words) =>
    expectToldWhy(refuse, words),
  );

  test.each<[number | undefined, string]>([
    [4001, "You declined in your wallet."],
    [4000, "Your wallet has an open question."],
    [undefined, "Your wallet is locked, or has no account."],
  ])("of an older wallet that answers %s is told what that means", async (code, words) => {
    const payer = await openRichPayer({ isOld: true });
    payer.wallet.decide("tron_requestAccounts", () => (code === undefined ? "" : { code }));
    await goToPay(payer);
    await expectNothingPaid(payer, words);
  });

  test("whose wallet changes to the network when it is asked pays there", async () => {
    const payer = await openRichPayer();
    payer.wallet.answer("wallet_switchEthereumChain", [{ chainId: "0x2b6653dc" }]);
    await goToPay(payer);
    await payer.see(seen);
    expect(payer.wallet.asked).toContainEqual({
      method: "wallet_switchEthereumChain",
      params: [{ chainId: "0x53a" }],
    });
  });

  test("with too little of the token is told before anything is signed", async () => {
    const payer = await openPayer({ toAmount: "26000000000" });
    await goToPay(payer);
    const { base58 } = payer.wallet;
    await expectNothingPaid(
      payer,
      `${base58.slice(0, 6)}…${base58.slice(-4)} has ` +
        "25 USDC, which is less than 26,000,000,000. Nothing was sent",
    );
    expect(payer.wallet.toSign()).toEqual([]);
  });

  test("whom the token's contract blocks is told before the payment is signed", async () => {
    await rig.chain.blockAccount(rich);
    const payer = await openRichPayer({ tokenId: "blocking-local-tron" });
    await goToPay(payer);
    await expectNothingPaid(
      payer,
      "Nothing was paid; take another account, or ask the owner how to pay.",
    );
    expect(payer.wallet.toSign()).toEqual([]);
  });

  test("who never answers to the allowance is told so once its time is over", async () => {
    const payer = await openPayer({ lastsMs: 3_000 });
    payer.wallet.decide("trx.sign", never);
    await goToPay(payer);
    await payer.see("Step 1 of 2");
    await expectNothingPaid(payer, "Nobody confirmed it in your wallet in its time.");
    expect(payer.wallet.countSent()).toBe(0);
  });

  test("whose allowance the network refuses is told that nothing was paid", async () => {
    const payer = await openPayer();
    payer.wallet.decide("trx.getUnconfirmedTransactionInfo", ([id]) => ({
      id,
      receipt: { result: "REVERT" },
    }));
    await goToPay(payer);
    await expectNothingPaid(payer, "The network refused the allowance. Nothing was paid");
    expect(payer.wallet.countSent()).toBe(1);
  });

  test("whose transaction fails in its block is told so, and may pay again", async () => {
    const payer = await openRichPayer();
    payer.wallet.decide("trx.getUnconfirmedTransactionInfo", ([id]) => ({
      id,
      receipt: { result: "OUT_OF_ENERGY" },
    }));
    payer.wallet.decide("trx.sendRawTransaction", () => ({ result: true }));
    await goToPay(payer);
    await expectNothingPaid(payer, "Your transaction ran out of energy: its fee is gone");
  });
});

describe("what a wallet is asked to sign is what the service asks for:", () => {
  test.each(changes)("not %s", (_what, part, instead) => expectNotSigned(part, instead));
});

describe("a wallet that asks its node from within the page", () => {
  test("is stopped where it asks another, and its payer is told what to do", async () => {
    const payer = await openRichPayer();
    await payer.page.addInitScript(`addEventListener("TIP6963:announceProvider", ({ detail }) => {
      const { request } = detail.provider;
      detail.provider.request = async (asked) => {
        const answer = await request(asked);
        detail.provider.tronWeb.trx.getBlockByNumber = () => fetch("https://node.test/wallet/getblockbynum");
        return answer;
      };
    })`);
    await goToPay(payer);
    await expectNothingPaid(payer, "Your wallet asks another node than the network's usual one");
    expect(payer.person.faults.splice(0)).toEqual([
      "connect-src https://node.test/wallet/getblockbynum",
    ]);
  });
});
