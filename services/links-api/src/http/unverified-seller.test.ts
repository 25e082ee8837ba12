import { describe, expect, test } from "@jest/globals";
import type { Account } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { type Rig, createRig } from "../testing/create-rig.ts";
import { sampleAccount, sampleSettlement } from "../testing/samples.ts";

const openSignUpRig = useRig(() => createRig({ settlementChains: ["8453"], isSignUpOpen: true }));
const closedSignUpRig = useRig(() => createRig({ settlementChains: ["8453"] }));

const notice = "The operator of this site has not verified this seller.";
const germanNotice = "Der Betreiber dieser Website hat diesen Verkäufer nicht geprüft.";

const createLink = async (rig: Rig, account: Account) => {
  const id = await rig.createLink(rig.createKeyHeaders(account), { toAmount: "25" });
  return { id, path: `/@${account.handle}/pay/${id}` };
};

const readPage = async (rig: Rig, path: string, language = "en"): Promise<string> =>
  (await rig.call(path, { headers: { "accept-language": language } })).text;

const readCheckout = async (rig: Rig, id: string) =>
  (await rig.call(`/checkout/payment-links/${id}`)).json;

describe("when anyone may sign up (rule CALLER-38)", () => {
  test("the checkout warns that the operator has not verified the seller, in the payer's language", async () => {
    const { id, path } = await createLink(openSignUpRig, sampleAccount({ isVerified: false }));
    const page = await readPage(openSignUpRig, path);
    const namePosition = page.indexOf('<p class="name">');
    expect(namePosition).toBeGreaterThan(0);
    expect(page.indexOf(notice)).toBeGreaterThan(namePosition);
    expect(page.indexOf(notice)).toBeLessThan(page.indexOf("<h1"));
    expect(await readPage(openSignUpRig, path, "de")).toContain(germanNotice);
    expect(await readCheckout(openSignUpRig, id)).toMatchObject({ isSellerVerified: false });
  });

  test.each([
    ["the operator has verified", { isVerified: true }],
    ["is known only from a record of an earlier release", {}],
  ])("the checkout does not warn of a seller that %s", async (_, overrides) => {
    const { id, path } = await createLink(openSignUpRig, sampleAccount(overrides));
    expect(await readPage(openSignUpRig, path)).not.toContain(notice);
    expect(await readCheckout(openSignUpRig, id)).toMatchObject({ isSellerVerified: true });
  });

  test("the checkout follows the operator's later decisions", async () => {
    const account = sampleAccount({ isVerified: false });
    const { path } = await createLink(openSignUpRig, account);
    await openSignUpRig.receiveAccount({ ...account, version: 2, isVerified: true });
    expect(await readPage(openSignUpRig, path)).not.toContain(notice);
    await openSignUpRig.receiveAccount({ ...account, version: 3, isVerified: false });
    expect(await readPage(openSignUpRig, path)).toContain(notice);
  });

  test("a receipt does not warn because the payment has already been made", async () => {
    const { id } = await createLink(openSignUpRig, sampleAccount({ isVerified: false }));
    await openSignUpRig.settle(sampleSettlement(id, { amount: "25" }));
    const { transactionUrl } = await openSignUpRig.retrieve(id);
    const receipt = await readPage(openSignUpRig, new URL(transactionUrl).pathname);
    expect(receipt).toContain("Payment settled");
    expect(receipt).not.toContain(notice);
  });
});

test("without open sign-up, the checkout shows nothing about verification (rule CALLER-38)", async () => {
  const { id, path } = await createLink(closedSignUpRig, sampleAccount({ isVerified: false }));
  expect(await readPage(closedSignUpRig, path)).not.toContain(notice);
  expect(await readCheckout(closedSignUpRig, id)).not.toHaveProperty("isSellerVerified");
});
