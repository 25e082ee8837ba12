import { describe, expect, test } from "@jest/globals";
import { newId, loadCatalogue, serializeToken } from "@payment-links/contracts";
import { sqlVoid } from "@payment-links/postgres";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { walletsMax } from "../domain/wallet.ts";
import { createRig, summarizeResponse } from "../testing/create-rig.ts";

const path = "/console/api/wallets";
const catalogue = loadCatalogue();
const evmAddress = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const otherEvmAddress = "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359";
const solanaAddress = "DRpbCBMxVnDK7maPM5tGv6MvB3v1sRMC86PZ8okm21hy";

const rig = useRig(createRig);

const requestWallet = (
  cookie: string,
  walletAddress: unknown,
  tokenId: unknown,
  isDefault?: unknown,
) => rig.call("POST", path, { cookie, body: { walletAddress, tokenId, isDefault } });

const addWallet = async (cookie: string, walletAddress = evmAddress, tokenId = "usdc-base") => {
  const response = await requestWallet(cookie, walletAddress, tokenId);
  expect(response.status).toBe(201);
  // Wallets with the same creation time have no defined order.
  rig.clock.advance(1);
  return String(response.body["id"]);
};

type ListedWallet = { id: string; isDefault: boolean; isChainDefault: boolean };

const listWallets = async (cookie: string): Promise<ListedWallet[]> => {
  const { body } = await rig.call("GET", path, { cookie });
  return body["data"] as ListedWallet[];
};

const readDefaults = async (cookie: string) => {
  const wallets = await listWallets(cookie);
  return {
    default: wallets.filter(({ isDefault }) => isDefault).map(({ id }) => id),
    chainDefault: wallets.filter(({ isChainDefault }) => isChainDefault).map(({ id }) => id),
  };
};

/** Returns a different EVM address for each index. */
const createAddress = (index: number): string => `0x${(index + 1).toString(16).padStart(40, "0")}`;

describe("POST /console/api/wallets", () => {
  test("makes the first wallet the default of the account and of its chain, and publishes it (rule CALLER-14)", async () => {
    const { userId, cookie } = await rig.signUp({ handle: "first_wallet" });
    const response = await requestWallet(cookie, evmAddress.toLowerCase(), "usdc-base");
    const token = catalogue.findToken("usdc-base");
    if (token === undefined) throw new Error("the catalog has no usdc-base");
    expect(response.status).toBe(201);
    expect(response.body).toEqual({
      id: expect.stringMatching(/^wallet_/),
      walletAddress: evmAddress,
      token: { id: "usdc-base", token: serializeToken(token, "https://pay.example") },
      chainType: "EVM",
      isDefault: true,
      isChainDefault: true,
      provider: null,
      mode: "live",
      firstAddresses: null,
      firstAddressIndex: null,
      defaultAt: null,
    });
    expect(await listWallets(cookie)).toEqual([response.body]);
    const [, event] = await rig.readEvents(userId);
    expect(event?.data).toMatchObject({
      version: 2,
      wallets: [
        {
          id: response.body["id"],
          walletAddress: evmAddress,
          tokenId: "usdc-base",
          chainType: "EVM",
          isDefault: true,
          isChainDefault: true,
          provider: null,
        },
      ],
    });
    const account = await rig.call("GET", "/console/api/account", { cookie });
    expect(account.body["isReady"]).toBe(true);
    expect(await rig.readAudit(userId)).toContain("wallet.added");
  });

  test("does not change a default for a second wallet, except the chain's default on a new chain", async () => {
    const { cookie } = await rig.signUp();
    const firstId = await addWallet(cookie);
    await addWallet(cookie, otherEvmAddress);
    const otherChainId = await addWallet(cookie, solanaAddress, "usdc-solana");
    expect(await readDefaults(cookie)).toEqual({
      default: [firstId],
      chainDefault: [firstId, otherChainId],
    });
  });

  test("replaces the previous default if a wallet is added as the default", async () => {
    const { cookie } = await rig.signUp();
    const firstId = await addWallet(cookie);
    const secondResponse = await requestWallet(cookie, otherEvmAddress, "usdc-base", true);
    expect(secondResponse.body).toMatchObject({ isDefault: true, isChainDefault: false });
    expect(await readDefaults(cookie)).toEqual({
      default: [secondResponse.body["id"]],
      chainDefault: [firstId],
    });
  });

  test("leaves the account without a default if the request says that the first wallet is not the default", async () => {
    const { cookie } = await rig.signUp({ handle: "not_ready" });
    expect((await requestWallet(cookie, evmAddress, "usdc-base", false)).body["isDefault"]).toBe(
      false,
    );
    const account = await rig.call("GET", "/console/api/account", { cookie });
    expect(account.body["isReady"]).toBe(false);
  });

  test("leaves exactly one default after ten concurrent first wallets", async () => {
    const { userId, cookie } = await rig.signUp();
    const responses = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        requestWallet(cookie, createAddress(index), "usdc-base"),
      ),
    );
    expect(responses.map(({ status }) => status)).toEqual(Array(10).fill(201));
    const { default: defaults, chainDefault } = await readDefaults(cookie);
    expect([defaults.length, chainDefault.length]).toEqual([1, 1]);
    const events = await rig.readEvents(userId);
    expect(events.map(({ data }) => [data.version, data.wallets.length])).toEqual(
      Array.from({ length: 11 }, (_, index) => [index + 1, index]),
    );
  });

  test("rejects the same address with the same token twice, in any case", async () => {
    const { cookie } = await rig.signUp();
    await addWallet(cookie);
    expect(
      summarizeResponse(await requestWallet(cookie, evmAddress.toLowerCase(), "usdc-base")),
    ).toBe("409 WALLET_EXISTS");
    expect((await requestWallet(cookie, evmAddress, "eurc-base")).status).toBe(201);
  });

  test("limits the number of wallets, even for concurrent requests (rule CALLER-15)", async () => {
    const { cookie } = await rig.signUp();
    for (let index = 0; index < walletsMax - 5; index += 1) {
      await addWallet(cookie, createAddress(index));
    }
    const responses = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        requestWallet(cookie, createAddress(1000 + index), "usdc-base"),
      ),
    );
    const results = responses.map(summarizeResponse).toSorted();
    expect(results).toEqual([...Array(5).fill("201"), ...Array(5).fill("409 WALLET_LIMIT")]);
  });

  test.each([
    ["no address", "422 missing", { tokenId: "usdc-base" }],
    ["an empty object", "422 missing missing", {}],
    ["an unknown token", "422 enum", { walletAddress: evmAddress, tokenId: "doge" }],
    [
      "a look-alike token (rule CHAIN-27)",
      "422 enum",
      { walletAddress: evmAddress, tokenId: "usdbc-base" },
    ],
    ["a numeric token id", "422 enum", { walletAddress: evmAddress, tokenId: 1 }],
    [
      "the name of a prototype property as the token id",
      "422 enum",
      { walletAddress: evmAddress, tokenId: "__proto__" },
    ],
    ["an address that is a number", "422 string_type", { walletAddress: 1, tokenId: "usdc-base" }],
    [
      "an address of another family",
      "422 INVALID_WALLET_ADDRESS",
      { walletAddress: solanaAddress, tokenId: "usdc-base" },
    ],
    [
      "a wrong checksum",
      "422 INVALID_WALLET_ADDRESS",
      { walletAddress: evmAddress.replace("5aA", "5AA"), tokenId: "usdc-base" },
    ],
    [
      "the zero address",
      "422 INVALID_WALLET_ADDRESS",
      { walletAddress: `0x${"0".repeat(40)}`, tokenId: "usdc-base" },
    ],
    [
      "the token's own contract",
      "422 INVALID_WALLET_ADDRESS",
      { walletAddress: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", tokenId: "eurc-base" },
    ],
    [
      "a look-alike's contract",
      "422 INVALID_WALLET_ADDRESS",
      { walletAddress: "0xd9aAEc86B65D86f6A7B5B1b0c42FFA531710b6CA", tokenId: "usdc-base" },
    ],
    [
      "a default that is a string",
      "422 bool_type",
      { walletAddress: evmAddress, tokenId: "usdc-base", isDefault: "yes" },
    ],
  ])("given %s, responds %s and stores nothing (rule CALLER-14)", async (_name, expected, body) => {
    const { userId, cookie } = await rig.signUp();
    expect(summarizeResponse(await rig.call("POST", path, { cookie, body }))).toBe(expected);
    expect(await listWallets(cookie)).toEqual([]);
    expect(await rig.readEvents(userId)).toHaveLength(1);
  });
});

describe("PATCH /console/api/wallets/{id}", () => {
  const patchWallet = (cookie: string, id: string, body: unknown) =>
    rig.call("PATCH", `${path}/${id}`, { cookie, body });

  test("replaces the previous default with this wallet in one event", async () => {
    const { userId, cookie } = await rig.signUp();
    const firstId = await addWallet(cookie);
    const secondId = await addWallet(cookie, otherEvmAddress);
    const response = await patchWallet(cookie, secondId, { isDefault: true });
    expect(response.status).toBe(200);
    expect(response.body).toMatchObject({ id: secondId, isDefault: true, isChainDefault: false });
    expect(await readDefaults(cookie)).toEqual({ default: [secondId], chainDefault: [firstId] });
    const events = await rig.readEvents(userId);
    expect(events).toHaveLength(4);
    expect(events[3]?.data.wallets).toMatchObject([
      { id: firstId, isDefault: false },
      { id: secondId, isDefault: true },
    ]);
  });

  test("replaces a chain's default only within that chain", async () => {
    const { cookie } = await rig.signUp();
    await addWallet(cookie);
    const otherChainId = await addWallet(cookie, solanaAddress, "usdc-solana");
    const secondId = await addWallet(cookie, otherEvmAddress, "eurc-base");
    await patchWallet(cookie, secondId, { isChainDefault: true });
    expect((await readDefaults(cookie)).chainDefault).toEqual([otherChainId, secondId]);
  });

  test("leaves exactly one default after ten concurrent changes", async () => {
    const { cookie } = await rig.signUp();
    const ids: string[] = [];
    for (let index = 0; index < 10; index += 1)
      ids.push(await addWallet(cookie, createAddress(index)));
    const body = { isDefault: true, isChainDefault: true };
    const responses = await Promise.all(ids.map((id) => patchWallet(cookie, id, body)));
    expect(responses.map(({ status }) => status)).toEqual(Array(10).fill(200));
    const { default: defaults, chainDefault } = await readDefaults(cookie);
    expect(defaults).toHaveLength(1);
    expect(chainDefault).toEqual(defaults);
  });

  test("can leave the account without a default, and then not ready", async () => {
    const { cookie } = await rig.signUp({ handle: "gives_up" });
    const id = await addWallet(cookie);
    expect((await patchWallet(cookie, id, { isDefault: false })).body["isDefault"]).toBe(false);
    const account = await rig.call("GET", "/console/api/account", { cookie });
    expect(account.body["isReady"]).toBe(false);
  });

  test("publishes nothing if nothing changes", async () => {
    const { userId, cookie } = await rig.signUp();
    const id = await addWallet(cookie);
    expect((await patchWallet(cookie, id, { isDefault: true })).status).toBe(200);
    expect((await patchWallet(cookie, id, {})).status).toBe(200);
    expect(await rig.readEvents(userId)).toHaveLength(2);
  });

  test("responds for another account's wallet as if it did not exist, and does not change it", async () => {
    const owner = await rig.signUp();
    const otherUser = await rig.signUp();
    const id = await addWallet(owner.cookie);
    const rejected = await patchWallet(otherUser.cookie, id, { isDefault: false });
    const unknownResponse = await patchWallet(
      otherUser.cookie,
      "wallet_00000000000000000000000000",
      {},
    );
    expect(summarizeResponse(rejected)).toBe("404 NOT_FOUND");
    expect(rejected.text).toBe(unknownResponse.text);
    expect((await readDefaults(owner.cookie)).default).toEqual([id]);
  });

  test.each([
    ["null", "422 bool_type", { isDefault: null }],
    ["a number", "422 bool_type", { isChainDefault: 1 }],
    ["a list", "422 model_attributes_type", "[]"],
  ])("given %s, responds %s", async (_name, expected, body) => {
    const { cookie } = await rig.signUp();
    const id = await addWallet(cookie);
    expect(summarizeResponse(await patchWallet(cookie, id, body))).toBe(expected);
  });
});

describe("DELETE /console/api/wallets/{id}", () => {
  test("deletes the wallet, and does not make another wallet the default (rule CALLER-14)", async () => {
    const { userId, cookie } = await rig.signUp();
    const firstId = await addWallet(cookie);
    const secondId = await addWallet(cookie, otherEvmAddress);
    expect((await rig.call("DELETE", `${path}/${firstId}`, { cookie })).status).toBe(204);
    expect(await listWallets(cookie)).toMatchObject([{ id: secondId, isDefault: false }]);
    const events = await rig.readEvents(userId);
    expect(events.at(-1)?.data).toMatchObject({ version: 4, wallets: [{ id: secondId }] });
    expect(summarizeResponse(await rig.call("DELETE", `${path}/${firstId}`, { cookie }))).toBe(
      "404 NOT_FOUND",
    );
    expect(await rig.readAudit(userId)).toContain("wallet.deleted");
  });
});

describe("live and test wallets", () => {
  const testTokenId = "usdc-base-sepolia";

  test("have one default per mode, which does not affect the other mode (rule MODE-3)", async () => {
    const { cookie } = await rig.signUp({ handle: "both_modes" });
    const testWallet = await requestWallet(cookie, evmAddress, testTokenId);
    expect(testWallet.body).toMatchObject({ mode: "test", isDefault: true });
    const account = await rig.call("GET", "/console/api/account", { cookie });
    expect(account.body).toMatchObject({
      isReady: false,
      isTestReady: true,
      testModeAvailable: true,
    });
    const liveWallet = await requestWallet(cookie, evmAddress, "usdc-base");
    expect(liveWallet.body).toMatchObject({ mode: "live", isDefault: true });
    const otherTestWallet = await requestWallet(cookie, otherEvmAddress, testTokenId, true);
    const { body } = await rig.call("GET", path, { cookie });
    const wallets = body["data"] as (ListedWallet & { mode: string })[];
    expect(wallets.filter(({ isDefault }) => isDefault).map(({ id, mode }) => [mode, id])).toEqual([
      ["live", liveWallet.body["id"]],
      ["test", otherTestWallet.body["id"]],
    ]);
    await rig.call("DELETE", `${path}/${String(otherTestWallet.body["id"])}`, { cookie });
    expect(await readDefaults(cookie)).toMatchObject({ default: [liveWallet.body["id"]] });
  });

  test("leave exactly one default per mode after concurrent changes in both modes (rule MODE-3)", async () => {
    const { cookie } = await rig.signUp();
    const responses = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        requestWallet(
          cookie,
          createAddress(index),
          index % 2 === 0 ? "usdc-base" : testTokenId,
          true,
        ),
      ),
    );
    expect(responses.map(({ status }) => status)).toEqual(Array(12).fill(201));
    const { body } = await rig.call("GET", path, { cookie });
    const defaultModes = (body["data"] as { isDefault: boolean; mode: string }[])
      .filter(({ isDefault }) => isDefault)
      .map(({ mode }) => mode);
    expect(defaultModes).toEqual(["live", "test"]);
  });
});

describe("a wallet whose token is no longer in the catalog", () => {
  test("is not listed and cannot become the default, but can be deleted", async () => {
    const { userId, cookie } = await rig.signUp();
    const id = newId("wallet");
    await rig.pool.query(sqlVoid`
      INSERT INTO wallets (
        id, account_id, wallet_address, token_id, chain_id, chain_type, is_default,
        is_chain_default, date_created
      ) VALUES (${id}, ${userId}, ${evmAddress}, 'gone', '8453', 'EVM', false, true, now())
    `);
    expect(await listWallets(cookie)).toEqual([]);
    const body = { isDefault: true };
    const rejected = await rig.call("PATCH", `${path}/${id}`, { cookie, body });
    expect(summarizeResponse(rejected)).toBe("404 NOT_FOUND");
    expect((await rig.call("DELETE", `${path}/${id}`, { cookie })).status).toBe(204);
  });
});

describe("GET /console/api/tokens", () => {
  test("returns the whole catalog, with what a wallet in each token is, and its mode", async () => {
    const walletForms = { EVM: "hex_address", SVM: "address", TVM: "address", BVM: "key" };
    const { cookie } = await rig.signUp();
    const { status, body } = await rig.call("GET", "/console/api/tokens", { cookie });
    expect(status).toBe(200);
    expect(body["data"]).toEqual(
      catalogue.tokens.map((token) => ({
        id: token.id,
        token: serializeToken(token, "https://pay.example"),
        walletForm: walletForms[token.chain.chainType],
        mode: token.chain.isTestNetwork === true ? "test" : "live",
      })),
    );
  });
});
