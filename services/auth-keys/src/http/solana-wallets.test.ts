import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { applyDueDefaults } from "../jobs/apply-due-defaults.ts";
import { createRig, summarizeResponse } from "../testing/create-rig.ts";

/*
 * settlement-listener tests its responses against a real Solana node:
 * `get-solana-account-state.test.ts`.
 */

const path = "/console/api/wallets";
const delayMs = 300_000;
const rig = useRig(() => createRig({ walletDelayMs: delayMs }));

const address = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM";
const usdc = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
const accountState = {
  blockhash: "GfVcyD4kkTrj4bKc7WA9sZCin9JDbdT4Zkd3EittNR1W",
  payerAmount: "0",
  isOwnerReady: false,
};

const walletState = async () => ({ ...accountState, isTokenProgramAccount: false });
const tokenAccountState = async () => ({ ...accountState, isTokenProgramAccount: true });
const rejectUnreachable = () => Promise.reject(new Error("no node responds"));

let user: { userId: string; cookie: string };
beforeEach(async () => {
  user = await rig.signUp();
});
afterEach(() => {
  rig.solana.respond = async () => undefined;
  rig.solana.requests.length = 0;
});

const addWallet = (tokenId = "usdc-solana", walletAddress = address, isDefault?: boolean) =>
  rig.call("POST", path, { ...user, body: { tokenId, walletAddress, isDefault } });
const patchWallet = (id: unknown, body: object) =>
  rig.call("PATCH", `${path}/${String(id)}`, { ...user, body });

const readState = async () => ({
  wallets: (await rig.call("GET", path, user)).body,
  events: (await rig.readEvents(user.userId)).length,
  audit: (await rig.readAudit(user.userId)).length,
});

describe("a wallet on Solana (rule CHAIN-26)", () => {
  test("is rejected if the address is a token account or a mint, and nothing is stored", async () => {
    rig.solana.respond = tokenAccountState;
    const stateBefore = await readState();
    expect(summarizeResponse(await addWallet())).toBe("422 SOLANA_WALLET_REQUIRED");
    expect(await readState()).toEqual(stateBefore);
    expect(rig.solana.requests).toEqual([
      { chainId: "solana", tokenAddress: usdc, payer: address, owner: address },
    ]);
  });

  test("is added once the chain shows that the address is neither", async () => {
    rig.solana.respond = walletState;
    expect(summarizeResponse(await addWallet())).toBe("201");
  });

  // An address that could not be checked might lose the money sent to it.
  test("is not added while the chain is watched but no node responds", async () => {
    rig.solana.respond = rejectUnreachable;
    const stateBefore = await readState();
    expect(summarizeResponse(await addWallet())).toBe("503 SERVICE_UNAVAILABLE");
    expect(await readState()).toEqual(stateBefore);
  });

  test("is added unchecked on a chain that is not watched", async () => {
    expect(summarizeResponse(await addWallet())).toBe("201");
  });

  test("of another chain family is added without a request to Solana", async () => {
    rig.solana.respond = rejectUnreachable;
    const evmResponse = await addWallet("usdc-base", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed");
    expect(summarizeResponse(evmResponse)).toBe("201");
    expect(summarizeResponse(await patchWallet(evmResponse.body["id"], { isDefault: true }))).toBe(
      "200",
    );
    expect(rig.solana.requests).toEqual([]);
  });

  test.each([
    ["the default", { isDefault: true }],
    ["its chain's default", { isChainDefault: true }],
  ])("whose address became a token account cannot become %s", async (_what, defaultsPatch) => {
    await addWallet("usdc-base", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed");
    const { body } = await addWallet();
    for (const [respond, expected] of [
      [tokenAccountState, "422 SOLANA_WALLET_REQUIRED"],
      [rejectUnreachable, "503 SERVICE_UNAVAILABLE"],
    ] as const) {
      rig.solana.respond = respond;
      const stateBefore = await readState();
      expect(summarizeResponse(await patchWallet(body["id"], defaultsPatch))).toBe(expected);
      expect(await readState()).toEqual(stateBefore);
    }
  });

  test("whose address became a token account can stop being the default", async () => {
    const { body } = await addWallet();
    expect(body).toMatchObject({ isDefault: true });
    rig.solana.respond = tokenAccountState;
    expect(summarizeResponse(await patchWallet(body["id"], { isDefault: false }))).toBe("200");
    expect(rig.solana.requests).toHaveLength(1);
  });

  test.each([
    ["does not become the default if the address became a token account", tokenAccountState, false],
    ["becomes the default if no node responds", rejectUnreachable, true],
  ])("after its delay %s", async (_what, respond, becomesDefault) => {
    await addWallet("usdc-base", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed");
    rig.solana.respond = walletState;
    const { body } = await addWallet("usdc-solana", address, true);
    rig.clock.advance(delayMs);
    rig.solana.respond = respond;
    await applyDueDefaults({ ...rig.context, wakeRelay: () => {} }).run();
    const { data } = (await rig.call("GET", path, user)).body as {
      data: { id: string; isDefault: boolean; defaultAt: string | null }[];
    };
    expect(data.find(({ id }) => id === body["id"])).toMatchObject({
      isDefault: becomesDefault,
      defaultAt: null,
    });
    const auditActions = await rig.readAudit(user.userId);
    expect(auditActions.includes("wallet.default_cancelled")).toBe(!becomesDefault);
  });
});
