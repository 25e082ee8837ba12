import { describe, expect, test } from "@jest/globals";
import type { Account } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { type Rig, openRig } from "../testing/open-rig.ts";
import { sampleAccount, sampleSettlement } from "../testing/samples.ts";

const openSite = useRig(() => openRig({ settlementChains: ["8453"], isSignUpOpen: true }));
const closedSite = useRig(() => openRig({ settlementChains: ["8453"] }));

const notice = "The operator of this site has not verified this seller.";
const germanNotice = "Der Betreiber dieser Website hat diesen Verkäufer nicht geprüft.";

const createLink = async (rig: Rig, account: Account) => {
  const id = await rig.createLink(rig.giveKey(account), { toAmount: "25" });
  return { id, path: `/@${account.handle}/pay/${id}` };
};

const readPage = async (rig: Rig, path: string, language = "en"): Promise<string> =>
  (await rig.call(path, { headers: { "accept-language": language } })).text;

const readCheckout = async (rig: Rig, id: string) =>
  (await rig.call(`/checkout/payment-links/${id}`)).json;

describe("where anyone may sign up (rule CALLER-38)", () => {
  test("the checkout says that the operator has not verified the seller, in the payer's language", async () => {
    const { id, path } = await createLink(openSite, sampleAccount({ isVerified: false }));
    const page = await readPage(openSite, path);
    const nameAt = page.indexOf('<p class="name">');
    expect(nameAt).toBeGreaterThan(0);
    expect(page.indexOf(notice)).toBeGreaterThan(nameAt);
    expect(page.indexOf(notice)).toBeLessThan(page.indexOf("<h1"));
    expect(await readPage(openSite, path, "de")).toContain(germanNotice);
    expect(await readCheckout(openSite, id)).toMatchObject({ isSellerVerified: false });
  });

  test.each([
    ["an operator has verified", { isVerified: true }],
    ["is known only from a record of an earlier release", {}],
  ])("the checkout warns of no seller that %s", async (_, change) => {
    const { id, path } = await createLink(openSite, sampleAccount(change));
    expect(await readPage(openSite, path)).not.toContain(notice);
    expect(await readCheckout(openSite, id)).toMatchObject({ isSellerVerified: true });
  });

  test("the checkout follows what the operator decides later", async () => {
    const account = sampleAccount({ isVerified: false });
    const { path } = await createLink(openSite, account);
    await openSite.hear({ ...account, version: 2, isVerified: true });
    expect(await readPage(openSite, path)).not.toContain(notice);
    await openSite.hear({ ...account, version: 3, isVerified: false });
    expect(await readPage(openSite, path)).toContain(notice);
  });

  test("a receipt does not warn, because the payment is made", async () => {
    const { id } = await createLink(openSite, sampleAccount({ isVerified: false }));
    await openSite.settle(sampleSettlement(id, { amount: "25" }));
    const { transactionUrl } = await openSite.retrieve(id);
    const receipt = await readPage(openSite, new URL(transactionUrl).pathname);
    expect(receipt).toContain("This payment has settled.");
    expect(receipt).not.toContain(notice);
  });
});

test("where nobody may sign up, the checkout says nothing about verification (rule CALLER-38)", async () => {
  const { id, path } = await createLink(closedSite, sampleAccount({ isVerified: false }));
  expect(await readPage(closedSite, path)).not.toContain(notice);
  expect(await readCheckout(closedSite, id)).not.toHaveProperty("isSellerVerified");
});
