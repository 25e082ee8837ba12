import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { applyDefaults } from "../jobs/apply-defaults.ts";
import { openRig, refusalOf } from "../testing/open-rig.ts";

/* What settlement-listener finds on a real Solana: `tell-solana-facts.test.ts` there. */

const path = "/console/api/wallets";
const delayMs = 300_000;
const rig = useRig(() => openRig({ walletDelayMs: delayMs }));

const address = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM";
const usdc = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
const facts = {
  blockhash: "GfVcyD4kkTrj4bKc7WA9sZCin9JDbdT4Zkd3EittNR1W",
  payerAmount: "0",
  isOwnerReady: false,
};

const wallet = async () => ({ ...facts, isTokenProgramAccount: false });
const tokenAccount = async () => ({ ...facts, isTokenProgramAccount: true });
const unreachable = () => Promise.reject(new Error("no node answers"));

let person: { userId: string; cookie: string };
beforeEach(async () => {
  person = await rig.signUp();
});
afterEach(() => {
  rig.solana.answer = async () => undefined;
  rig.solana.asked.length = 0;
});

const add = (tokenId = "usdc-solana", walletAddress = address, isDefault?: boolean) =>
  rig.call("POST", path, { ...person, body: { tokenId, walletAddress, isDefault } });
const change = (id: unknown, body: object) =>
  rig.call("PATCH", `${path}/${String(id)}`, { ...person, body });

const stateOf = async () => ({
  wallets: (await rig.call("GET", path, person)).body,
  events: (await rig.readEvents(person.userId)).length,
  audit: (await rig.readAudit(person.userId)).length,
});

describe("a wallet on Solana (rule CHAIN-26)", () => {
  test("is not a token account or a mint: nothing is stored", async () => {
    rig.solana.answer = tokenAccount;
    const before = await stateOf();
    expect(refusalOf(await add())).toBe("422 SOLANA_WALLET_REQUIRED");
    expect(await stateOf()).toEqual(before);
    expect(rig.solana.asked).toEqual([
      { chainId: "solana", tokenAddress: usdc, payer: address, owner: address },
    ]);
  });

  test("is added once the chain shows that it is none", async () => {
    rig.solana.answer = wallet;
    expect(refusalOf(await add())).toBe("201");
  });

  // Guards money: an address that nobody could check might be one whose money is lost.
  test("is not added while the chain is watched and no node answers", async () => {
    rig.solana.answer = unreachable;
    const before = await stateOf();
    expect(refusalOf(await add())).toBe("503 SERVICE_UNAVAILABLE");
    expect(await stateOf()).toEqual(before);
  });

  test("is added unchecked on a chain that is not watched", async () => {
    expect(refusalOf(await add())).toBe("201");
  });

  test("of another family is never asked about", async () => {
    rig.solana.answer = unreachable;
    const evm = await add("usdc-base", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed");
    expect(refusalOf(evm)).toBe("201");
    expect(refusalOf(await change(evm.body["id"], { isDefault: true }))).toBe("200");
    expect(rig.solana.asked).toEqual([]);
  });

  test.each([
    ["the default", { isDefault: true }],
    ["its chain's default", { isChainDefault: true }],
  ])("that has become a token account cannot become %s", async (_what, wish) => {
    await add("usdc-base", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed");
    const { body } = await add();
    for (const [answer, expected] of [
      [tokenAccount, "422 SOLANA_WALLET_REQUIRED"],
      [unreachable, "503 SERVICE_UNAVAILABLE"],
    ] as const) {
      rig.solana.answer = answer;
      const before = await stateOf();
      expect(refusalOf(await change(body["id"], wish))).toBe(expected);
      expect(await stateOf()).toEqual(before);
    }
  });

  test("that has become a token account can stop being the default", async () => {
    const { body } = await add();
    expect(body).toMatchObject({ isDefault: true });
    rig.solana.answer = tokenAccount;
    expect(refusalOf(await change(body["id"], { isDefault: false }))).toBe("200");
    expect(rig.solana.asked).toHaveLength(1);
  });

  test.each([
    ["does not become the default if it is a token account by then", tokenAccount, false],
    ["becomes the default if no node answers then", unreachable, true],
  ])("whose delay is over %s", async (_what, answer, becomesDefault) => {
    await add("usdc-base", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed");
    rig.solana.answer = wallet;
    const { body } = await add("usdc-solana", address, true);
    rig.clock.advance(delayMs);
    rig.solana.answer = answer;
    await applyDefaults({ ...rig.ground, wakeRelay: () => {} });
    const { data } = (await rig.call("GET", path, person)).body as {
      data: { id: string; isDefault: boolean; defaultAt: string | null }[];
    };
    expect(data.find(({ id }) => id === body["id"])).toMatchObject({
      isDefault: becomesDefault,
      defaultAt: null,
    });
    const audit = await rig.readAudit(person.userId);
    expect(audit.includes("wallet.default_cancelled")).toBe(!becomesDefault);
  });
});
