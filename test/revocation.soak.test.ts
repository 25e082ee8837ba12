import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { Client } from "pg";
import { waitUntil } from "@payment-links/runtime/testing";
import { injectDelay } from "@payment-links/runtime/testing/inject-delay";
import { type Merchant, call, createMerchant } from "./rig/client.ts";
import { type RealSystem, startRealSystem } from "./rig/real-system.ts";

/** A call of the load: the times of its request and response, and its result. */
type Sample = { sentAtMs: number; answeredAtMs: number; status: number; linkId: string };

const workersPerKey = 3;
const paceMs = 20;
/** Enough calls to show how the system behaves after a given time. */
const requiredCallCount = 30;
const oldWallet = "0x52908400098527886E0F7030069857D2E4169EE7";
/** The shift that `rig/move-clock.mjs` applies. */
const clockShiftMs = 45_000;
/** The maximum time that a process takes to apply the clock shift. */
const clockNoticeMs = 1_000;
const newWallet = "0x8617E340B3D01FA5F11F306F4090FD50E238070D";

describe("two replicas of links-api under load", () => {
  let system: RealSystem;
  let merchant: Merchant;
  let admin: Client;

  beforeAll(async () => {
    system = await startRealSystem({
      replicasPerService: 2,
      startedServices: ["auth-keys", "links-api"],
      env: {
        RATE_LIMIT_PER_IP: "10000:10000",
        RATE_LIMIT_PER_KEY: "10000:10000",
        NODE_OPTIONS: `--import=${new URL("rig/move-clock.mjs", import.meta.url).href}`,
      },
    });
    merchant = await createMerchant(system, "revoked");
    admin = new Client({ connectionString: system.adminUrl });
    await admin.connect();
  });
  afterAll(async () => {
    await admin?.end();
    await system?.close();
  });

  const callConsole = async (
    method: "GET" | "POST" | "PATCH" | "DELETE",
    path: string,
    body?: unknown,
  ) =>
    call(`${system.baseUrl}/console/api${path}`, {
      method,
      headers: { cookie: merchant.cookie },
      ...(body === undefined ? {} : { body }),
    });

  const createKey = async (): Promise<{ id: string; key: string }> => {
    const scopes = ["payment_link:create", "payment_link:read"];
    const { body } = await callConsole("POST", "/api-keys", { name: "load", scopes });
    return { id: String(body["id"]), key: String(body["key"]) };
  };
  const revoke = async ({ id }: { id: string }): Promise<number> => {
    expect((await callConsole("DELETE", `/api-keys/${id}`)).status).toBe(204);
    return performance.now();
  };

  /** Sends calls through the ingress with short pauses until stopped. */
  const startLoad = (method: "GET" | "POST", key: string) => {
    const samples: Sample[] = [];
    const runWorker = async (signal: AbortSignal) => {
      while (!signal.aborted) {
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
    const abortController = new AbortController();
    const workers = Array.from({ length: workersPerKey }, () => runWorker(abortController.signal));
    return {
      samples,
      stop: async () => {
        abortController.abort();
        await Promise.all(workers);
      },
    };
  };
  /** Waits until enough calls that were sent after a given time have responses. */
  const waitForCalls = (samples: readonly Sample[], sentAfterMs: number) =>
    waitUntil(
      "enough calls were sent after that time",
      () => filterSentAfter(samples, sentAfterMs).length > requiredCallCount,
    );
  /** Waits until each load has enough accepted calls. */
  const waitForAccepted = (...loads: (readonly Sample[])[]) =>
    waitUntil("each load has enough accepted calls", () =>
      loads.every((samples) => filterAccepted(samples).length > requiredCallCount),
    );
  const filterAccepted = (samples: readonly Sample[]) =>
    samples.filter(({ status }) => status === 200);
  const filterSentAfter = (samples: readonly Sample[], ms: number) =>
    samples.filter(({ sentAtMs }) => sentAtMs > ms);

  test("send no link to the old default wallet for longer than 1 s after a change", async () => {
    const addResponse = await callConsole("POST", "/wallets", {
      walletAddress: newWallet,
      tokenId: "usdc-base",
    });
    const { body } = await callConsole("GET", "/wallets");
    const wallets = body["data"] as { id: string; walletAddress: string }[];
    const oldWalletRow = wallets.find(({ walletAddress }) => walletAddress === oldWallet);
    const load = startLoad("POST", (await createKey()).key);
    const changes: { startedAtMs: number; changedAtMs: number; address: string }[] = [];
    for (const [id, address] of [
      [addResponse.body["id"], newWallet],
      [oldWalletRow?.id, oldWallet],
      [addResponse.body["id"], newWallet],
    ]) {
      const startedAtMs = performance.now();
      const changeResponse = await callConsole("PATCH", `/wallets/${String(id)}`, {
        isDefault: true,
      });
      expect(changeResponse.status).toBe(200);
      const changedAtMs = performance.now();
      changes.push({ startedAtMs, changedAtMs, address: String(address) });
      await waitForCalls(load.samples, changedAtMs + 1_000);
    }
    await load.stop();
    expect(load.samples.filter(({ status }) => status !== 200)).toEqual([]);

    const { rows } = await admin.query<{ id: string; destination_address: string }>(
      "SELECT id, destination_address FROM links_api.links",
    );
    const destinationByLinkId = new Map(rows.map((row) => [row.id, row.destination_address]));
    for (const [index, { changedAtMs, address }] of changes.entries()) {
      const nextChangeAtMs = changes[index + 1]?.startedAtMs ?? Infinity;
      const createdAfterChange = filterSentAfter(load.samples, changedAtMs + 1_000).filter(
        ({ answeredAtMs }) => answeredAtMs < nextChangeAtMs,
      );
      expect(createdAfterChange.length).toBeGreaterThan(3);
      expect(
        new Set(createdAfterChange.map(({ linkId }) => destinationByLinkId.get(linkId))),
      ).toEqual(new Set([address]));
    }
  });

  /** Makes the other one of the two wallets the default. Returns its address. */
  const switchDefaultWallet = async (): Promise<string> => {
    const { body } = await callConsole("GET", "/wallets");
    const wallets = body["data"] as { id: string; walletAddress: string; isDefault: boolean }[];
    const otherWallet = wallets.find(({ isDefault }) => !isDefault);
    if (otherWallet === undefined) throw new Error("the second wallet is missing");
    const { status } = await callConsole("PATCH", `/wallets/${otherWallet.id}`, {
      isDefault: true,
    });
    expect(status).toBe(200);
    return otherWallet.walletAddress;
  };
  /**
   * Creates a link on every replica, as a console tab does. Returns the destination of each link.
   */
  const createLinksInConsole = async (): Promise<string[]> => {
    const results: string[] = [];
    for (let index = 0; index < 4; index += 1) {
      const { status, body } = await callConsole("POST", "/payment-links", { toAmount: "5" });
      const { rows } = await admin.query<{ destination_address: string }>(
        "SELECT destination_address FROM links_api.links WHERE id = $1",
        [String(body["id"])],
      );
      results.push(status === 200 ? (rows[0]?.destination_address ?? "none") : String(status));
    }
    return results;
  };

  test("use the new default wallet after 1.1 s for a tab that was open during the change", async () => {
    await createLinksInConsole();
    const address = await switchDefaultWallet();
    await injectDelay("promised time", 1_100);
    expect(new Set(await createLinksInConsole())).toEqual(new Set([address]));
  });

  test("create no link for that tab while auth-keys is frozen, and continue once it responds", async () => {
    const authKeys = system.replicas.filter(({ service }) => service === "auth-keys");
    await createLinksInConsole();
    const address = await switchDefaultWallet();
    for (const replica of authKeys) process.kill(replica.pid(), "SIGSTOP");
    try {
      await injectDelay("promised time", 1_100);
      expect(new Set(await createLinksInConsole())).toEqual(new Set(["500"]));
      expect((await callConsole("GET", "/payment-links")).status).toBe(200);
    } finally {
      for (const replica of authKeys) process.kill(replica.pid(), "SIGCONT");
    }
    const results = await waitUntil("every replica creates links again", async () => {
      const currentResults = await createLinksInConsole();
      return !currentResults.includes("500") && currentResults;
    });
    expect(new Set(results)).toEqual(new Set([address]));
  });

  test("reject a revoked key for creates after 1 s, and for all calls after 5 s", async () => {
    const [creatingKey, listingKey] = [await createKey(), await createKey()];
    const createLoad = startLoad("POST", creatingKey.key);
    const listLoad = startLoad("GET", listingKey.key);
    await waitForAccepted(createLoad.samples, listLoad.samples);
    const noCreateAfterMs = (await revoke(creatingKey)) + 1_000;
    const noListAfterMs = (await revoke(listingKey)) + 5_000;
    await waitForCalls(createLoad.samples, noCreateAfterMs);
    await waitForCalls(listLoad.samples, noListAfterMs);
    await Promise.all([createLoad.stop(), listLoad.stop()]);

    expect(filterAccepted(createLoad.samples).length).toBeGreaterThan(10);
    expect(filterAccepted(listLoad.samples).length).toBeGreaterThan(10);
    const lateCalls = [
      ...filterSentAfter(createLoad.samples, noCreateAfterMs),
      ...filterSentAfter(listLoad.samples, noListAfterMs),
    ];
    expect(lateCalls.length).toBeGreaterThan(20);
    expect(new Set(lateCalls.map(({ status }) => status))).toEqual(new Set([401]));
  });

  test("reject a revoked key when auth-keys dies after the revocation: creates after 1 s, lists after 60 s", async () => {
    const [creatingKey, listingKey] = [await createKey(), await createKey()];
    const createLoad = startLoad("POST", creatingKey.key);
    const listLoad = startLoad("GET", listingKey.key);
    await waitForAccepted(createLoad.samples, listLoad.samples);
    const [createRevokedMs, listRevokedMs] = await Promise.all([
      revoke(creatingKey),
      revoke(listingKey),
    ]);
    const authKeys = system.replicas.filter(({ service }) => service === "auth-keys");
    await Promise.all(authKeys.map((replica) => replica.kill()));
    await waitForCalls(createLoad.samples, createRevokedMs + 1_000);
    await createLoad.stop();
    // Moves the clocks of the links-api processes ahead, so their cached introspections become 45 s
    // older.
    for (const replica of system.replicas) {
      if (replica.service === "links-api") process.kill(replica.pid(), "SIGUSR2");
    }
    const movedAtMs = performance.now();
    await waitForCalls(listLoad.samples, listRevokedMs + 60_000 - clockShiftMs);
    await listLoad.stop();

    const lateCreates = filterSentAfter(createLoad.samples, createRevokedMs + 1_000);
    expect(lateCreates.length).toBeGreaterThan(10);
    expect(filterAccepted(lateCreates)).toEqual([]);
    // Read requests still succeed for some time, because a revoked key can read for up to 60 s.
    const callsAfterClockMove = filterSentAfter(listLoad.samples, movedAtMs + clockNoticeMs);
    expect(filterAccepted(callsAfterClockMove).length).toBeGreaterThan(20);
    const lateLists = filterSentAfter(listLoad.samples, listRevokedMs + 60_000 - clockShiftMs);
    expect(lateLists.length).toBeGreaterThan(10);
    expect(filterAccepted(lateLists)).toEqual([]);

    await Promise.all(authKeys.map((replica) => replica.start()));
  });
});
