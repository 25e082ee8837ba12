import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { Client } from "pg";
import { waitUntil } from "@payment-links/runtime/testing";
import { injectDelay } from "@payment-links/runtime/testing/inject-delay";
import { type Merchant, call, openMerchant } from "./rig/client.ts";
import { type RealSystem, openRealSystem } from "./rig/real-system.ts";

/** One call of the load: when it was sent and answered, and what became of it. */
type Sample = { sentAtMs: number; answeredAtMs: number; status: number; linkId: string };

const workersPerKey = 3;
const paceMs = 20;
/** So many calls show what holds from a moment on. */
const callsWanted = 30;
const oldWallet = "0x52908400098527886E0F7030069857D2E4169EE7";
/** By how much `rig/move-clock.mjs` moves it. */
const movedByMs = 45_000;
/** How long a process may take to hear that its clock is moved. */
const clockNoticeMs = 1_000;
const newWallet = "0x8617E340B3D01FA5F11F306F4090FD50E238070D";

describe("two replicas of links-api under load", () => {
  let system: RealSystem;
  let merchant: Merchant;
  let admin: Client;

  beforeAll(async () => {
    system = await openRealSystem({
      replicasPerService: 2,
      only: ["auth-keys", "links-api"],
      env: {
        RATE_LIMIT_PER_IP: "10000:10000",
        RATE_LIMIT_PER_KEY: "10000:10000",
        NODE_OPTIONS: `--import=${new URL("rig/move-clock.mjs", import.meta.url).href}`,
      },
    });
    merchant = await openMerchant(system, "revoked");
    admin = new Client({ connectionString: system.adminUrl });
    await admin.connect();
  });
  afterAll(async () => {
    await admin?.end();
    await system?.close();
  });

  const consoleCall = async (
    method: "GET" | "POST" | "PATCH" | "DELETE",
    path: string,
    body?: unknown,
  ) =>
    call(`${system.baseUrl}/console/api${path}`, {
      method,
      headers: { cookie: merchant.cookie },
      ...(body === undefined ? {} : { body }),
    });

  const openKey = async (): Promise<{ id: string; key: string }> => {
    const scopes = ["payment_link:create", "payment_link:read"];
    const { body } = await consoleCall("POST", "/api-keys", { name: "load", scopes });
    return { id: String(body["id"]), key: String(body["key"]) };
  };
  const revoke = async ({ id }: { id: string }): Promise<number> => {
    expect((await consoleCall("DELETE", `/api-keys/${id}`)).status).toBe(204);
    return performance.now();
  };

  /** Sends calls through the ingress with only short pauses, until it is stopped. */
  const startLoad = (method: "GET" | "POST", key: string) => {
    const samples: Sample[] = [];
    const work = async (stop: AbortSignal) => {
      while (!stop.aborted) {
        const sentAtMs = performance.now();
        const { status, body } = await call(`${system.baseUrl}/v1/payment-link`, {
          method,
          headers: { "x-api-key": key },
          ...(method === "POST" ? { body: { toAmount: "5" } } : {}),
        });
        const answeredAtMs = performance.now();
        samples.push({ sentAtMs, answeredAtMs, status, linkId: String(body["id"]) });
        await injectDelay("load pace", paceMs);
      }
    };
    const end = new AbortController();
    const workers = Array.from({ length: workersPerKey }, () => work(end.signal));
    return {
      samples,
      stop: async () => {
        end.abort();
        await Promise.all(workers);
      },
    };
  };
  /** Waits until enough calls that were sent after a moment have their answers. */
  const waitForCalls = (samples: readonly Sample[], sentAfterMs: number) =>
    waitUntil("calls after it", () => sentAfter(samples, sentAfterMs).length > callsWanted);
  /** Waits until each load had enough calls that were accepted. */
  const waitForAccepted = (...loads: (readonly Sample[])[]) =>
    waitUntil("the load", () => loads.every((samples) => accepted(samples).length > callsWanted));
  const accepted = (samples: readonly Sample[]) => samples.filter(({ status }) => status === 200);
  const sentAfter = (samples: readonly Sample[], ms: number) =>
    samples.filter(({ sentAtMs }) => sentAtMs > ms);

  test("after the default wallet changed, no link goes to the old one for longer than 1 s", async () => {
    const added = await consoleCall("POST", "/wallets", {
      walletAddress: newWallet,
      tokenId: "usdc-base",
    });
    const { body } = await consoleCall("GET", "/wallets");
    const wallets = body["data"] as { id: string; walletAddress: string }[];
    const first = wallets.find(({ walletAddress }) => walletAddress === oldWallet);
    const load = startLoad("POST", (await openKey()).key);
    const changes: { beganAtMs: number; atMs: number; address: string }[] = [];
    for (const [id, address] of [
      [added.body["id"], newWallet],
      [first?.id, oldWallet],
      [added.body["id"], newWallet],
    ]) {
      const beganAtMs = performance.now();
      const changed = await consoleCall("PATCH", `/wallets/${String(id)}`, { isDefault: true });
      expect(changed.status).toBe(200);
      const atMs = performance.now();
      changes.push({ beganAtMs, atMs, address: String(address) });
      await waitForCalls(load.samples, atMs + 1_000);
    }
    await load.stop();
    expect(load.samples.filter(({ status }) => status !== 200)).toEqual([]);

    const { rows } = await admin.query<{ id: string; destination_address: string }>(
      "SELECT id, destination_address FROM links_api.links",
    );
    const goesTo = new Map(rows.map((row) => [row.id, row.destination_address]));
    for (const [index, { atMs, address }] of changes.entries()) {
      const nextMs = changes[index + 1]?.beganAtMs ?? Infinity;
      const made = sentAfter(load.samples, atMs + 1_000).filter(
        ({ answeredAtMs }) => answeredAtMs < nextMs,
      );
      expect(made.length).toBeGreaterThan(3);
      expect(new Set(made.map(({ linkId }) => goesTo.get(linkId)))).toEqual(new Set([address]));
    }
  });

  /** Makes the other of the two wallets the default; answers its address. */
  const changeDefault = async (): Promise<string> => {
    const { body } = await consoleCall("GET", "/wallets");
    const wallets = body["data"] as { id: string; walletAddress: string; isDefault: boolean }[];
    const other = wallets.find(({ isDefault }) => !isDefault);
    if (other === undefined) throw new Error("there is no second wallet");
    const { status } = await consoleCall("PATCH", `/wallets/${other.id}`, { isDefault: true });
    expect(status).toBe(200);
    return other.walletAddress;
  };
  /** Creates links from a tab of the console, at every replica; answers where each one goes. */
  const createFromTab = async (): Promise<string[]> => {
    const outcomes: string[] = [];
    for (let sent = 0; sent < 4; sent += 1) {
      const { status, body } = await consoleCall("POST", "/payment-links", { toAmount: "5" });
      const { rows } = await admin.query<{ destination_address: string }>(
        "SELECT destination_address FROM links_api.links WHERE id = $1",
        [String(body["id"])],
      );
      outcomes.push(status === 200 ? (rows[0]?.destination_address ?? "none") : String(status));
    }
    return outcomes;
  };

  test("a tab that was open while the wallet changed makes its links for the new one 1.1 s later", async () => {
    await createFromTab();
    const address = await changeDefault();
    await injectDelay("promised time", 1_100);
    expect(new Set(await createFromTab())).toEqual(new Set([address]));
  });

  test("with auth-keys frozen since, that tab makes no link, and goes on once it answers", async () => {
    const authKeys = system.replicas.filter(({ service }) => service === "auth-keys");
    await createFromTab();
    const address = await changeDefault();
    for (const replica of authKeys) process.kill(replica.pid(), "SIGSTOP");
    try {
      await injectDelay("promised time", 1_100);
      expect(new Set(await createFromTab())).toEqual(new Set(["500"]));
      expect((await consoleCall("GET", "/payment-links")).status).toBe(200);
    } finally {
      for (const replica of authKeys) process.kill(replica.pid(), "SIGCONT");
    }
    const outcomes = await waitUntil("every replica makes links again", async () => {
      const now = await createFromTab();
      return !now.includes("500") && now;
    });
    expect(new Set(outcomes)).toEqual(new Set([address]));
  });

  test("a revoked key creates nothing after 1 s, and is accepted nowhere after 5 s", async () => {
    const [creating, listing] = [await openKey(), await openKey()];
    const creates = startLoad("POST", creating.key);
    const lists = startLoad("GET", listing.key);
    await waitForAccepted(creates.samples, lists.samples);
    const noCreateAfterMs = (await revoke(creating)) + 1_000;
    const noListAfterMs = (await revoke(listing)) + 5_000;
    await waitForCalls(creates.samples, noCreateAfterMs);
    await waitForCalls(lists.samples, noListAfterMs);
    await Promise.all([creates.stop(), lists.stop()]);

    expect(accepted(creates.samples).length).toBeGreaterThan(10);
    expect(accepted(lists.samples).length).toBeGreaterThan(10);
    const late = [
      ...sentAfter(creates.samples, noCreateAfterMs),
      ...sentAfter(lists.samples, noListAfterMs),
    ];
    expect(late.length).toBeGreaterThan(20);
    expect(new Set(late.map(({ status }) => status))).toEqual(new Set([401]));
  });

  test("with auth-keys gone right after it: no create after 1 s, no list after 60 s", async () => {
    const [creating, listing] = [await openKey(), await openKey()];
    const creates = startLoad("POST", creating.key);
    const lists = startLoad("GET", listing.key);
    await waitForAccepted(creates.samples, lists.samples);
    const [createRevokedMs, listRevokedMs] = await Promise.all([revoke(creating), revoke(listing)]);
    const authKeys = system.replicas.filter(({ service }) => service === "auth-keys");
    await Promise.all(authKeys.map((replica) => replica.kill()));
    await waitForCalls(creates.samples, createRevokedMs + 1_000);
    await creates.stop();
    // A fresh answer becomes 45 s older for processes that read its age from their clocks alone.
    for (const replica of system.replicas) {
      if (replica.service === "links-api") process.kill(replica.pid(), "SIGUSR2");
    }
    const movedAtMs = performance.now();
    await waitForCalls(lists.samples, listRevokedMs + 60_000 - movedByMs);
    await lists.stop();

    const lateCreates = sentAfter(creates.samples, createRevokedMs + 1_000);
    expect(lateCreates.length).toBeGreaterThan(10);
    expect(accepted(lateCreates)).toEqual([]);
    // Readers work on for a while; that is what the minute is for.
    const stale = sentAfter(lists.samples, movedAtMs + clockNoticeMs);
    expect(accepted(stale).length).toBeGreaterThan(20);
    const lateLists = sentAfter(lists.samples, listRevokedMs + 60_000 - movedByMs);
    expect(lateLists.length).toBeGreaterThan(10);
    expect(accepted(lateLists)).toEqual([]);

    await Promise.all(authKeys.map((replica) => replica.start()));
  });
});
