import { describe, expect, test } from "@jest/globals";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { applyDefaults } from "../jobs/apply-defaults.ts";
import { openRig, tokenOf } from "../testing/open-rig.ts";

const path = "/console/api/wallets";
const delayMs = 300_000;
const rig = useRig(() => openRig({ walletDelayMs: delayMs }));

type Shown = { id: string; isDefault: boolean; defaultAt: string | null };
let people = 0;

/** Somebody with a first wallet, which is the default at once. */
const openOwner = async () => {
  const handle = `owner_${(people += 1)}`;
  const person = await rig.signUp({ handle });
  const first = await add(person.cookie, 0);
  // Wallets of one instant stand in any order.
  rig.clock.advance(1);
  return { ...person, handle, first };
};

const signInAgain = async (handle: string): Promise<string> => {
  const { body } = await rig.call("POST", "/internal/sign-in-links", { body: { handle } });
  return rig.signIn(tokenOf(body["signInUrl"]));
};

const walletAddress = (index: number) => `0x${(0x1111 + index).toString(16).padStart(40, "0")}`;

const add = async (cookie: string, index: number, isDefault?: boolean): Promise<Shown> => {
  const body = { walletAddress: walletAddress(index), tokenId: "usdc-base", isDefault };
  const answer = await rig.call("POST", path, { cookie, body });
  expect(answer.status).toBe(201);
  return answer.body as Shown;
};

const wish = async (cookie: string, { id }: Shown, isDefault: boolean): Promise<Shown> => {
  const answer = await rig.call("PATCH", `${path}/${id}`, { cookie, body: { isDefault } });
  expect(answer.status).toBe(200);
  return answer.body as Shown;
};

const defaultsOf = async (cookie: string) => {
  const { body } = await rig.call("GET", path, { cookie });
  const wallets = body["data"] as Shown[];
  return {
    default: wallets.find(({ isDefault }) => isDefault)?.id,
    pending: wallets.filter(({ defaultAt }) => defaultAt !== null).map(({ id }) => id),
  };
};

const runJob = () => applyDefaults({ ...rig.ground, wakeRelay: () => {} });

const later = (ms: number) => new Date(rig.clock.now().getTime() + ms).toISOString();

describe("another default wallet (rule CALLER-20)", () => {
  test("takes effect after the delay and not before, once, and is told then", async () => {
    const { userId, cookie, first } = await openOwner();
    expect(first).toMatchObject({ isDefault: true, defaultAt: null });
    const second = await add(cookie, 1, true);
    expect(second).toMatchObject({ isDefault: false, defaultAt: later(delayMs) });
    rig.clock.advance(delayMs - 1);
    await runJob();
    expect(await defaultsOf(cookie)).toEqual({ default: first.id, pending: [second.id] });
    rig.clock.advance(1);
    const told = (await rig.readEvents(userId)).length;
    await Promise.all([runJob(), runJob()]);
    expect(await defaultsOf(cookie)).toEqual({ default: second.id, pending: [] });
    const events = await rig.readEvents(userId);
    expect(events).toHaveLength(told + 1);
    expect(events.at(-1)?.data.wallets).toMatchObject([{ isDefault: false }, { isDefault: true }]);
    const { body } = await rig.call("GET", "/console/api/audit-log", { cookie });
    expect(body["data"]).toMatchObject([
      { action: "wallet.changed", targetId: second.id, actor: { kind: "service", id: null } },
      { action: "wallet.default_scheduled", targetId: second.id },
      { action: "wallet.added" },
      { action: "wallet.added" },
      {},
      {},
      {},
    ]);
  });

  test("that was there before waits too; the same word again does not put it off", async () => {
    const { cookie, first } = await openOwner();
    const second = await add(cookie, 1);
    const scheduled = await wish(cookie, second, true);
    expect(scheduled.defaultAt).toBe(later(delayMs));
    rig.clock.advance(60_000);
    expect((await wish(cookie, second, true)).defaultAt).toBe(scheduled.defaultAt);
    expect((await defaultsOf(cookie)).default).toBe(first.id);
  });

  test("is cancelled by its owner", async () => {
    const { userId, cookie, first } = await openOwner();
    const second = await add(cookie, 1, true);
    expect(await wish(cookie, second, false)).toMatchObject({ isDefault: false, defaultAt: null });
    rig.clock.advance(delayMs);
    await runJob();
    expect(await defaultsOf(cookie)).toEqual({ default: first.id, pending: [] });
    expect(await rig.readAudit(userId)).toContain("wallet.default_cancelled");
  });

  test("gives way to the last word: a third wallet, or the present default", async () => {
    const { cookie, first } = await openOwner();
    const second = await add(cookie, 1, true);
    rig.clock.advance(1000);
    const third = await add(cookie, 2, true);
    expect(await defaultsOf(cookie)).toEqual({ default: first.id, pending: [third.id] });
    await wish(cookie, second, true);
    expect((await defaultsOf(cookie)).pending).toEqual([second.id]);
    await wish(cookie, first, true);
    expect(await defaultsOf(cookie)).toEqual({ default: first.id, pending: [] });
  });

  test.each(["gives up", "deletes"])(
    "is not hastened by who %s the present one: there is none until then",
    async (how) => {
      const { userId, cookie, first } = await openOwner();
      const second = await add(cookie, 1, true);
      if (how === "deletes") await rig.call("DELETE", `${path}/${first.id}`, { cookie });
      else await wish(cookie, first, false);
      expect(await defaultsOf(cookie)).toEqual({ default: undefined, pending: [second.id] });
      const account = await rig.call("GET", "/console/api/account", { cookie });
      expect(account.body).toMatchObject({ id: userId, isReady: false });
      rig.clock.advance(delayMs);
      await runJob();
      expect((await defaultsOf(cookie)).default).toBe(second.id);
    },
  );

  // A thief in a fresh session would begin anew, as if the account were empty.
  test("waits even where every other wallet was deleted first", async () => {
    const { cookie, first } = await openOwner();
    await rig.call("DELETE", `${path}/${first.id}`, { cookie });
    const only = await add(cookie, 1);
    expect(only).toMatchObject({ isDefault: false, defaultAt: later(delayMs) });
  });

  test("that is deleted while it waits never becomes one", async () => {
    const { userId, cookie, first } = await openOwner();
    const second = await add(cookie, 1, true);
    const other = await add(cookie, 2);
    await rig.call("DELETE", `${path}/${other.id}`, { cookie });
    expect(await rig.readAudit(userId)).not.toContain("wallet.default_cancelled");
    await rig.call("DELETE", `${path}/${second.id}`, { cookie });
    expect(await rig.readAudit(userId)).toContain("wallet.default_cancelled");
    rig.clock.advance(delayMs);
    await runJob();
    expect(await defaultsOf(cookie)).toEqual({ default: first.id, pending: [] });
  });

  test.each(["suspend", "revoke-everything"])("is cancelled by an operator's %s", async (word) => {
    const { cookie, handle, first } = await openOwner();
    await add(cookie, 1, true);
    const body = { handle };
    await rig.call("POST", `/internal/accounts/${word}`, { body });
    if (word === "suspend") await rig.call("POST", "/internal/accounts/resume", { body });
    rig.clock.advance(delayMs);
    await runJob();
    const again = await signInAgain(handle);
    expect(await defaultsOf(again)).toEqual({ default: first.id, pending: [] });
  });

  test("of a chain alone waits for nothing, as no link settles by it", async () => {
    const { cookie, first } = await openOwner();
    const second = await add(cookie, 1);
    const body = { isDefault: true, isChainDefault: true };
    const answer = await rig.call("PATCH", `${path}/${second.id}`, { cookie, body });
    expect(answer.body).toMatchObject({ isDefault: false, isChainDefault: true });
    expect((await defaultsOf(cookie)).default).toBe(first.id);
  });
});

describe("an account's first default (rule CALLER-20)", () => {
  test("takes effect at once, be its wallet added as one or chosen later", async () => {
    const { cookie } = await rig.signUp();
    const wallet = await add(cookie, 0, false);
    expect(await wish(cookie, wallet, true)).toMatchObject({ isDefault: true, defaultAt: null });
  });
});
