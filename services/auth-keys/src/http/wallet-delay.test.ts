import { describe, expect, test } from "@jest/globals";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { applyDueDefaults } from "../jobs/apply-due-defaults.ts";
import { createRig, parseToken } from "../testing/create-rig.ts";

const path = "/console/api/wallets";
const delayMs = 300_000;
const rig = useRig(() => createRig({ walletDelayMs: delayMs }));

type WalletData = { id: string; isDefault: boolean; defaultAt: string | null };
let ownerCount = 0;

/** Creates a user with a first wallet, which is the default immediately. */
const createOwner = async () => {
  const handle = `owner_${(ownerCount += 1)}`;
  const user = await rig.signUp({ handle });
  const firstWallet = await addWallet(user.cookie, 0);
  // Wallets with the same creation time have no defined order.
  rig.clock.advance(1);
  return { ...user, handle, firstWallet };
};

const signInAgain = async (handle: string): Promise<string> => {
  const { body } = await rig.call("POST", "/internal/sign-in-links", { body: { handle } });
  return rig.signIn(parseToken(body["signInUrl"]));
};

const walletAddress = (index: number) => `0x${(0x1111 + index).toString(16).padStart(40, "0")}`;

const addWallet = async (
  cookie: string,
  index: number,
  isDefault?: boolean,
): Promise<WalletData> => {
  const body = { walletAddress: walletAddress(index), tokenId: "usdc-base", isDefault };
  const response = await rig.call("POST", path, { cookie, body });
  expect(response.status).toBe(201);
  return response.body as WalletData;
};

const setDefault = async (
  cookie: string,
  { id }: WalletData,
  isDefault: boolean,
): Promise<WalletData> => {
  const response = await rig.call("PATCH", `${path}/${id}`, { cookie, body: { isDefault } });
  expect(response.status).toBe(200);
  return response.body as WalletData;
};

const readDefaults = async (cookie: string) => {
  const { body } = await rig.call("GET", path, { cookie });
  const wallets = body["data"] as WalletData[];
  return {
    default: wallets.find(({ isDefault }) => isDefault)?.id,
    pending: wallets.filter(({ defaultAt }) => defaultAt !== null).map(({ id }) => id),
  };
};

const runJob = () => applyDueDefaults({ ...rig.context, wakeRelay: () => {} }).run();

const toLaterIso = (ms: number) => new Date(rig.clock.now().getTime() + ms).toISOString();

describe("another default wallet (rule CALLER-20)", () => {
  test("takes effect once, after the delay, and is published then", async () => {
    const { userId, cookie, firstWallet } = await createOwner();
    expect(firstWallet).toMatchObject({ isDefault: true, defaultAt: null });
    const secondWallet = await addWallet(cookie, 1, true);
    expect(secondWallet).toMatchObject({ isDefault: false, defaultAt: toLaterIso(delayMs) });
    rig.clock.advance(delayMs - 1);
    await runJob();
    expect(await readDefaults(cookie)).toEqual({
      default: firstWallet.id,
      pending: [secondWallet.id],
    });
    rig.clock.advance(1);
    const eventCount = (await rig.readEvents(userId)).length;
    await Promise.all([runJob(), runJob()]);
    expect(await readDefaults(cookie)).toEqual({ default: secondWallet.id, pending: [] });
    const events = await rig.readEvents(userId);
    expect(events).toHaveLength(eventCount + 1);
    expect(events.at(-1)?.data.wallets).toMatchObject([{ isDefault: false }, { isDefault: true }]);
    const { body } = await rig.call("GET", "/console/api/audit-log", { cookie });
    expect(body["data"]).toMatchObject([
      { action: "wallet.changed", targetId: secondWallet.id, actor: { kind: "service", id: null } },
      { action: "wallet.default_scheduled", targetId: secondWallet.id },
      { action: "wallet.added" },
      { action: "wallet.added" },
      {},
      {},
      {},
    ]);
  });

  test("is also delayed for an existing wallet, and repeating the request does not prolong the delay", async () => {
    const { cookie, firstWallet } = await createOwner();
    const secondWallet = await addWallet(cookie, 1);
    const scheduledWallet = await setDefault(cookie, secondWallet, true);
    expect(scheduledWallet.defaultAt).toBe(toLaterIso(delayMs));
    rig.clock.advance(60_000);
    expect((await setDefault(cookie, secondWallet, true)).defaultAt).toBe(
      scheduledWallet.defaultAt,
    );
    expect((await readDefaults(cookie)).default).toBe(firstWallet.id);
  });

  test("can be cancelled by its owner", async () => {
    const { userId, cookie, firstWallet } = await createOwner();
    const secondWallet = await addWallet(cookie, 1, true);
    expect(await setDefault(cookie, secondWallet, false)).toMatchObject({
      isDefault: false,
      defaultAt: null,
    });
    rig.clock.advance(delayMs);
    await runJob();
    expect(await readDefaults(cookie)).toEqual({ default: firstWallet.id, pending: [] });
    expect(await rig.readAudit(userId)).toContain("wallet.default_cancelled");
  });

  test("is replaced by a later request for a third wallet or for the current default", async () => {
    const { cookie, firstWallet } = await createOwner();
    const secondWallet = await addWallet(cookie, 1, true);
    rig.clock.advance(1000);
    const thirdWallet = await addWallet(cookie, 2, true);
    expect(await readDefaults(cookie)).toEqual({
      default: firstWallet.id,
      pending: [thirdWallet.id],
    });
    await setDefault(cookie, secondWallet, true);
    expect((await readDefaults(cookie)).pending).toEqual([secondWallet.id]);
    await setDefault(cookie, firstWallet, true);
    expect(await readDefaults(cookie)).toEqual({ default: firstWallet.id, pending: [] });
  });

  test.each(["gives up", "deletes"])(
    "does not take effect earlier if its owner %s the current default, which leaves none until then",
    async (removal) => {
      const { userId, cookie, firstWallet } = await createOwner();
      const secondWallet = await addWallet(cookie, 1, true);
      if (removal === "deletes") await rig.call("DELETE", `${path}/${firstWallet.id}`, { cookie });
      else await setDefault(cookie, firstWallet, false);
      expect(await readDefaults(cookie)).toEqual({
        default: undefined,
        pending: [secondWallet.id],
      });
      const account = await rig.call("GET", "/console/api/account", { cookie });
      expect(account.body).toMatchObject({ id: userId, isReady: false });
      rig.clock.advance(delayMs);
      await runJob();
      expect((await readDefaults(cookie)).default).toBe(secondWallet.id);
    },
  );

  // Otherwise an attacker with a fresh session could delete all wallets and start again without a
  // delay.
  test("is delayed even if every other wallet was deleted first", async () => {
    const { cookie, firstWallet } = await createOwner();
    await rig.call("DELETE", `${path}/${firstWallet.id}`, { cookie });
    const onlyWallet = await addWallet(cookie, 1);
    expect(onlyWallet).toMatchObject({ isDefault: false, defaultAt: toLaterIso(delayMs) });
  });

  test("never takes effect if the wallet is deleted during the delay", async () => {
    const { userId, cookie, firstWallet } = await createOwner();
    const secondWallet = await addWallet(cookie, 1, true);
    const otherWallet = await addWallet(cookie, 2);
    await rig.call("DELETE", `${path}/${otherWallet.id}`, { cookie });
    expect(await rig.readAudit(userId)).not.toContain("wallet.default_cancelled");
    await rig.call("DELETE", `${path}/${secondWallet.id}`, { cookie });
    expect(await rig.readAudit(userId)).toContain("wallet.default_cancelled");
    rig.clock.advance(delayMs);
    await runJob();
    expect(await readDefaults(cookie)).toEqual({ default: firstWallet.id, pending: [] });
  });

  test.each(["suspend", "revoke-everything"])(
    "is cancelled by an operator's %s",
    async (action) => {
      const { cookie, handle, firstWallet } = await createOwner();
      await addWallet(cookie, 1, true);
      const body = { handle };
      await rig.call("POST", `/internal/accounts/${action}`, { body });
      if (action === "suspend") await rig.call("POST", "/internal/accounts/resume", { body });
      rig.clock.advance(delayMs);
      await runJob();
      const newCookie = await signInAgain(handle);
      expect(await readDefaults(newCookie)).toEqual({ default: firstWallet.id, pending: [] });
    },
  );

  test("of a chain takes effect without a delay, because it does not decide where links settle", async () => {
    const { cookie, firstWallet } = await createOwner();
    const secondWallet = await addWallet(cookie, 1);
    const body = { isDefault: true, isChainDefault: true };
    const response = await rig.call("PATCH", `${path}/${secondWallet.id}`, { cookie, body });
    expect(response.body).toMatchObject({ isDefault: false, isChainDefault: true });
    expect((await readDefaults(cookie)).default).toBe(firstWallet.id);
  });
});

describe("an account's first default (rule CALLER-20)", () => {
  test("takes effect immediately, whether requested on adding the wallet or later", async () => {
    const { cookie } = await rig.signUp();
    const wallet = await addWallet(cookie, 0, false);
    expect(await setDefault(cookie, wallet, true)).toMatchObject({
      isDefault: true,
      defaultAt: null,
    });
  });
});

test("a test default takes effect immediately and leaves the pending live default unchanged (rule MODE-3)", async () => {
  const { cookie } = await createOwner();
  const pendingWallet = await addWallet(cookie, 1, true);
  const body = { walletAddress: walletAddress(2), tokenId: "usdc-base-sepolia", isDefault: true };
  const first = await rig.call("POST", path, { cookie, body });
  const second = await rig.call("POST", path, {
    cookie,
    body: { ...body, walletAddress: walletAddress(3) },
  });
  for (const { body: wallet } of [first, second])
    expect(wallet).toMatchObject({ isDefault: true, mode: "test", defaultAt: null });
  expect(await readDefaults(cookie)).toMatchObject({ pending: [pendingWallet.id] });
  rig.clock.advance(delayMs);
  await runJob();
  const { body: list } = await rig.call("GET", path, { cookie });
  const defaults = (list["data"] as WalletData[]).filter(({ isDefault }) => isDefault);
  expect(defaults.map(({ id }) => id)).toEqual([pendingWallet.id, second.body["id"]]);
});
