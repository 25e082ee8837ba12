import { describe, expect, test } from "@jest/globals";
import { accountSnapshot, accountUpdated, newId } from "@payment-links/contracts";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { saveAccount } from "../events/save-account.ts";
import { readLink } from "../store/read-link.ts";
import { createRig } from "../testing/create-rig.ts";
import { sampleAccount, shopAddress } from "../testing/samples.ts";

const rig = useRig(createRig);

type Account = ReturnType<typeof sampleAccount>;

const receiveAccount = (account: Account, { type }: { type: string } = accountUpdated) =>
  rig.pool.transaction((tx) =>
    saveAccount(rig.dependencies)(tx, account, {
      id: newId("evt"),
      type,
      key: account.id,
      occurredAt: rig.clock.now(),
    }),
  );

describe("GET /v1/payment-link/:id", () => {
  test.each([
    "plink_01m7y4kb9sfvktcnzb0r3g9a0s",
    "plink_x",
    "nonsense",
    "%F0%9F%92%B6",
    "%00",
    "plink_%00",
    "a'--",
    "x".repeat(2000),
  ])("given the id %s, returns 404 CANNOT_FIND_PAYMENT_LINK (rule API-6)", async (id) => {
    const response = await rig.call(`/v1/payment-link/${id}`);
    expect(response.status).toBe(404);
    expect(response.json).toEqual({
      errors: [{ message: expect.any(String), code: "CANNOT_FIND_PAYMENT_LINK" }],
    });
  });

  test("given a path that cannot be decoded, returns 404 instead of 500", async () => {
    expect((await rig.call("/v1/payment-link/%ff")).status).toBe(404);
  });

  test("needs no credentials and ignores invalid ones (rule API-6)", async () => {
    const id = await rig.createLink(rig.createKeyHeaders(sampleAccount()), { toAmount: "1" });
    const response = await rig.call(`/v1/payment-link/${id}`, { headers: { "x-api-key": "bad" } });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
  });

  test("returns the owner's current profile, but keeps the link's own destination (rule API-11)", async () => {
    const account = sampleAccount();
    const id = await rig.createLink(rig.createKeyHeaders(account), { toAmount: "1" });
    const [wallet] = account.wallets;
    if (wallet === undefined) throw new Error("the sample account has no wallet");
    const otherWallet = {
      ...wallet,
      id: newId("wallet"),
      walletAddress: "0x0000000000000000000000000000000000000001",
    };
    const changedAccount: Account = {
      ...account,
      version: 2,
      handle: "new_handle",
      bio: "We sell tea.",
      links: ["https://tea.example/"],
      backgroundColour: "#aabbcc",
      wallets: [{ ...wallet, isDefault: false, isChainDefault: true }, otherWallet],
    };
    await receiveAccount(changedAccount);
    const link = await rig.retrieve(id);
    expect(link.url).toBe(`https://pay.example/@new_handle/pay/${id}`);
    expect(link.destinationAddress).toBe(shopAddress);
    expect(link.user).toMatchObject({
      handle: "new_handle",
      bio: "We sell tea.",
      links: ["https://tea.example/"],
      backgroundColour: "#aabbcc",
      wallet: { walletAddress: shopAddress, isDefault: false, isChainDefault: true },
    });

    await receiveAccount(
      { ...changedAccount, version: 3, wallets: [otherWallet] },
      accountSnapshot,
    );
    expect((await rig.retrieve(id)).user.wallet).toMatchObject({
      walletAddress: shopAddress,
      isDefault: false,
      isChainDefault: false,
    });
  });

  test("ignores an older account state after a newer one, and increments a metric for version jumps (rule EVENT-3)", async () => {
    const account = sampleAccount();
    const id = await rig.createLink(rig.createKeyHeaders(account), { toAmount: "1" });
    await receiveAccount({ ...account, version: 5, username: "Fifth" });
    await receiveAccount({ ...account, version: 4, username: "Fourth" });
    await receiveAccount({ ...account, version: 5, username: "Fifth again" });
    expect((await rig.retrieve(id)).user.username).toBe("Fifth");
    const metric = await rig.directMetrics.getSingleMetricAsString(
      "payment_links_version_jumps_total",
    );
    expect(metric).toContain('topic="accounts.v1"');
    expect(metric).toMatch(/\} 1$/);
  });
});

describe("an owner's return URL (rule API-39)", () => {
  const returnUrl = "https://return.example/thanks?a=1";
  const readReturnUrl = async (id: string) =>
    (await readLink(rig.dependencies, id)).owner.returnUrl;

  test("is read from the account's latest record, and is null if a record does not have it", async () => {
    const account = sampleAccount({ returnUrl });
    const id = await rig.createLink(rig.createKeyHeaders(account), { toAmount: "1" });
    expect(await readReturnUrl(id)).toBe(returnUrl);
    await receiveAccount({ ...account, version: 2, returnUrl: null });
    expect(await readReturnUrl(id)).toBeNull();
    await receiveAccount({ ...account, version: 3 });
    expect(await readReturnUrl(id)).toBe(returnUrl);
    const { returnUrl: _, ...accountOfEarlierRelease } = account;
    await receiveAccount({ ...accountOfEarlierRelease, version: 4 });
    expect(await readReturnUrl(id)).toBeNull();
  });

  test("does not change any response of the API or of the checkout", async () => {
    const account = sampleAccount();
    const headers = rig.createKeyHeaders(account);
    const id = await rig.createLink(headers, { toAmount: "1" });
    const paths = [`/v1/payment-link/${id}`, "/v1/payment-link", `/checkout/payment-links/${id}`];
    const readResponses = () =>
      Promise.all(paths.map(async (path) => (await rig.call(path, { headers })).text));
    const responses = await readResponses();
    await receiveAccount({ ...account, version: 2, returnUrl });
    expect(await readReturnUrl(id)).toBe(returnUrl);
    expect(await readResponses()).toEqual(responses);
  });
});

describe("paths and methods", () => {
  test.each([
    ["GET", "/v1/nothing", 404, "NOT_FOUND"],
    ["GET", "/console/api/payment-links/x/y/z", 404, "NOT_FOUND"],
    ["POST", "/console/api/payment-links/x/y/z", 404, "NOT_FOUND"],
    ["GET", "/console/api", 404, "NOT_FOUND"],
    ["DELETE", "/v1/payment-link", 405, "METHOD_NOT_ALLOWED"],
    ["POST", "/v1/payment-link/plink_x", 405, "METHOD_NOT_ALLOWED"],
  ])("%s %s returns %i %s in the error envelope", async (method, path, status, code) => {
    const response = await rig.call(path, { method });
    expect([response.status, response.json.errors[0].code]).toEqual([status, code]);
    if (status === 405) expect(response.headers.get("allow")).toContain("GET");
  });
});
