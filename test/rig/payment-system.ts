import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { formatUnits } from "viem";
import { type Bus, createLocalBus } from "@payment-links/bus";
import {
  type Account,
  type FetchSolanaAccountState,
  type IntrospectionResponse,
  type SendReceipt,
  createCatalogue,
  hashSecret,
  newId,
  scopes,
  topics,
} from "@payment-links/contracts";
import { createSampleAccount } from "@payment-links/contracts/testing/sample-account";
import { createLinksApi, linksApiConfig, linksApiMigration } from "@payment-links/links-api";
import { createTestContext, startTestListeners } from "@payment-links/process/testing";
import { createMetrics, parseConfig } from "@payment-links/runtime";
import {
  createSettlementListener,
  settlementListenerConfig,
  settlementListenerMigration,
} from "@payment-links/settlement-listener";
import type { LocalEvmChain } from "@payment-links/local-chains/evm/start-evm-chain";
import { waitUntil } from "@payment-links/runtime/testing";
import { createShiftedClock } from "@payment-links/runtime/testing/shifted-clock";

const pollMs = 50;

/** How a chain is watched. The names are the same as in `EVM_CHAINS_FILE`. */
export type WatchSettings = {
  finality?: "finalized" | "safe" | { blocks: number };
  finalDepthBlocks?: number;
  headLagBlocks?: number;
  rangeBlocksMax?: number;
  pollMs?: number;
};

/** The functions and settings that a chain of any family must provide for tests. */
export type PaidChain = Pick<
  LocalEvmChain,
  "chainId" | "url" | "catalogueData" | "readHeadNumber" | "mine"
> & {
  pay: (payment: {
    reference: string;
    to: string;
    amount: bigint;
    payer?: 0 | 1 | 2;
  }) => Promise<string>;
  /** Returns a new unique address, or a key on Bitcoin. `tokenId` is the default token. */
  createAddress?: () => string;
  tokenId?: string;
  /** The token's decimals (default 6), and a small amount in its base units (default 1 token). */
  decimals?: number;
  amountUnit?: bigint;
};

type SystemOptions = {
  chain: PaidChain;
  settings?: WatchSettings;
  /** Number of blocks that `finalized` lags behind the head. */
  finalizedLag?: number | undefined;
  /** Additional chains to watch with the same settings. */
  otherChains?: readonly PaidChain[];
  /**
   * The URLs that the watcher uses to reach the chain's node, starting with the primary. The
   * default is the node's own URL.
   */
  rpcUrls?: readonly string[];
  /**
   * Whether direct transfers to owners are watched and can name links by an amount suffix. The
   * default is false.
   */
  watchesTransfers?: boolean;
  /** Sends receipts by email. By default, the installation does not send email. */
  sendReceipt?: SendReceipt;
};

export type LinkOptions = {
  toAmount: string;
  /** The catalogue ID of the link's token. */
  tokenId?: string;
  maxUsage?: number;
  expirationDate?: string;
  description?: string;
  /** The address of the owner's wallet. The default is a new one. */
  walletAddress?: string;
  /** Profile fields of the link's owner. */
  owner?: Partial<Account>;
};

/** The owner's view of a link. */
export type OwnerLinkView = {
  status: string;
  receivedAmount: string;
  payments: {
    status: string;
    applied: boolean;
    reason: string | null;
    amount: string;
    sourceTransaction: string | null;
    /** Whether the chain has orphaned the payment after it was settled. */
    orphaned?: true;
  }[];
};

type WatchProgress = {
  scannedTo: number | null;
  finalizedTo: number | null;
  /** The last block audited with a second provider, if there is one. */
  auditedTo: number | null;
  haltedReason: string | null;
};

/**
 * Starts links-api and settlement-listener in this process on one local bus, each with its own
 * database. They use the machine's clock, which a test can move ahead. The watcher starts only when
 * a test calls `startWatcher`.
 */
export const createPaymentSystem = async ({
  chain,
  settings = {},
  finalizedLag,
  otherChains = [],
  rpcUrls = [chain.url],
  watchesTransfers = false,
  sendReceipt,
}: SystemOptions) => {
  const chains = [chain, ...otherChains];
  const watchSettings = { finality: { blocks: 2 }, headLagBlocks: 0, pollMs, ...settings };
  const catalogue = {
    chains: chains.flatMap(({ catalogueData }) => catalogueData.chains),
    tokens: chains.flatMap(({ catalogueData }) => catalogueData.tokens),
  };
  const chainType = chain.catalogueData.chains[0]?.chainType ?? "EVM";
  const { createAddress = createEvmAddress } = chain;
  const directory = await mkdtemp(join(tmpdir(), "watched-chain-"));
  const transferChains = {
    TRANSFER_CHAINS: watchesTransfers ? chains.map(({ chainId }) => chainId).join(",") : "",
  };
  const chainsFile = join(directory, "chains.json");
  await writeFile(
    chainsFile,
    JSON.stringify(Object.fromEntries(chains.map(({ chainId }) => [chainId, watchSettings]))),
  );
  /**
   * Returns the environment variables that configure which chains a listener watches and how it
   * watches them.
   */
  const buildWatcherEnv = (urls: readonly string[]) => ({
    ...transferChains,
    EVM_CHAINS_FILE: chainsFile,
    EVM_RPC_URLS: [
      ...urls.map((url) => `${chain.chainId}=${url}`),
      ...otherChains.map(({ chainId, url }) => `${chainId}=${url}`),
    ].join(","),
  });

  const introspectionResponses = new Map<string, IntrospectionResponse>();
  const localBus = createLocalBus({ groups: ["links-api", "settlement-listener"] });
  let areLinkEventsHeld = false;
  const bus: Bus = {
    ...localBus,
    publish: async (records) => {
      const containsLinkEvents = records.some(({ topic }) => topic === topics.paymentLinks);
      if (areLinkEventsHeld && containsLinkEvents) throw new Error("the broker is unavailable");
      await localBus.publish(records);
    },
  };
  const { clock, shift: clockShift } = createShiftedClock();
  const overrides = {
    bus,
    catalogue: createCatalogue(catalogue),
    clock,
    requestIntrospection: async ({ kind, hash }: { kind: string; hash: string }) =>
      introspectionResponses.get(`${kind} ${hash}`) ?? { found: false as const },
    fetchSolanaAccountState: async (request: Parameters<FetchSolanaAccountState>[0]) =>
      watchers[0]?.fetchSolanaAccountState(request),
    ...(sendReceipt === undefined ? {} : { sendReceipt }),
  };
  const links = await createTestContext({
    name: "links-api",
    migration: linksApiMigration,
    overrides,
  });
  const settlements = await createTestContext({
    name: "settlement-listener",
    migration: settlementListenerMigration,
    overrides,
  });
  const linksConfig = parseConfig(linksApiConfig, {
    ...transferChains,
    SETTLEMENT_CHAINS: chains.map(({ chainId }) => chainId).join(","),
    ...(sendReceipt === undefined ? {} : { SMTP_FROM: "shop@example.com" }),
  });
  const linksApi = createLinksApi(links.context, linksConfig);
  const linksListeners = await startTestListeners(linksApi, links.context);
  await linksApi.start();

  const linksDatabase = new Client({ connectionString: links.database.adminUrl });
  const settlementsDatabase = new Client({ connectionString: settlements.database.adminUrl });
  await Promise.all([linksDatabase.connect(), settlementsDatabase.connect()]);

  /**
   * Starts another listener instance on the same database. It immediately starts to watch the
   * chain.
   */
  const startWatcher = async (urls = rpcUrls) => {
    const metrics = createMetrics("settlement-listener");
    const context = { ...settlements.context, metrics };
    const config = parseConfig(settlementListenerConfig, buildWatcherEnv(urls));
    const listener = createSettlementListener(context, config);
    const internalListeners = await startTestListeners(listener, context);
    await listener.start();
    let stopPromise: Promise<void> | undefined;
    const stop = async () => {
      await listener.stop();
      await internalListeners.close();
    };
    return {
      /** Returns the sum of a metric over its labels, or 0 if it has no values. */
      readMetric: async (name: string): Promise<number> => {
        const metricValue = await metrics.getSingleMetric(name)?.get();
        return (metricValue?.values ?? []).reduce((sum, { value }) => sum + value, 0);
      },
      fetchSolanaAccountState: listener.fetchSolanaAccountState,
      status: async () =>
        (await (
          await fetch(`${internalListeners.internalUrl}/internal/settlement/status`)
        ).json()) as {
          chains: Record<string, unknown>[];
        },
      stop: () => (stopPromise ??= stop()),
    };
  };
  const watchers: Awaited<ReturnType<typeof startWatcher>>[] = [];

  /** The session cookie of each link's owner. */
  const cookies = new Map<string, string>();
  const signIn = (account: Account): string => {
    const session = randomUUID();
    const hash = hashSecret(session).toString("hex");
    const credential = {
      id: newId("key"),
      bucketId: newId("key"),
      scopes: [...scopes],
      expiresAt: null,
    };
    introspectionResponses.set(`session ${hash}`, { found: true, account, credential });
    return `session-links=${session}`;
  };
  const call = async (path: string, cookie: string, body?: object) => {
    const response = await fetch(`${linksListeners.publicUrl}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { cookie, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (response.status !== 200)
      throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Record<string, unknown>;
  };

  const system = {
    chain,
    links,
    settlements,
    linksDatabase,
    settlementsDatabase,
    publicUrl: linksListeners.publicUrl,
    /** Moves the clock of both services ahead. */
    advanceClock: (ms: number) => {
      clockShift.nowMs += ms;
    },
    /**
     * Simulates an unreachable broker: holds back all link events until it is called with false.
     */
    holdLinkEvents: (isHeld: boolean) => {
      areLinkEventsHeld = isHeld;
    },
    startWatcher: async (urls?: readonly string[]) => {
      const watcher = await startWatcher(urls);
      watchers.push(watcher);
      return watcher;
    },
    /**
     * Creates a link as its owner would in the console. Returns the data that a payer needs to pay
     * it.
     */
    createLink: async ({
      tokenId = chain.tokenId ?? "usdc",
      walletAddress = createAddress(),
      owner,
      ...linkBody
    }: LinkOptions) => {
      const account = { ...createReadyAccount({ tokenId, chainType, walletAddress }), ...owner };
      const cookie = signIn(account);
      const { id } = await call("/console/api/payment-links", cookie, linkBody);
      cookies.set(String(id), cookie);
      const { rows } = await linksDatabase.query<{ reference: string; to: string }>(
        `SELECT payment_reference AS reference, destination_address AS "to"
         FROM links_api.links WHERE id = $1`,
        [id],
      );
      return {
        id: String(id),
        reference: rows[0]?.reference ?? "",
        /** The owner's address. On Bitcoin, it is the link's address. */
        to: rows[0]?.to ?? "",
        pageUrl: `${linksListeners.publicUrl}/@${account.handle}/pay/${String(id)}`,
      };
    },
    /** Returns the number of unmatched deposits at an address. */
    countDeposits: async (address: string): Promise<number> => {
      const { rows } = await linksDatabase.query<{ count: number }>(
        "SELECT count(*)::int AS count FROM links_api.deposits WHERE destination_address = $1",
        [address],
      );
      return rows[0]?.count ?? 0;
    },
    /**
     * Waits until the listener has received a link. On Solana, the listener queries the owner's
     * last hour only with the next block. A chain that is mined manually does not necessarily have
     * a next block.
     */
    waitForLinkReceived: (id: string): Promise<unknown> =>
      waitUntil(`the listener has received link ${id}`, async () => {
        const { rowCount } = await settlementsDatabase.query(
          "SELECT 1 FROM settlement_listener.links WHERE id = $1",
          [id],
        );
        return rowCount === 1;
      }),
    readLink: async (id: string): Promise<OwnerLinkView> => {
      const { status, receivedAmount, payments } = (await call(
        `/console/api/payment-links/${id}`,
        cookies.get(id) ?? "",
      )) as OwnerLinkView;
      return {
        status,
        receivedAmount,
        payments: payments.map(
          ({ status, applied, reason, amount, sourceTransaction, orphaned }) => ({
            status,
            applied,
            reason,
            amount,
            sourceTransaction,
            ...(orphaned === undefined ? {} : { orphaned }),
          }),
        ),
      };
    },
    /** Waits until the owner's view satisfies the predicate, and returns the view. */
    waitForLink: async (
      id: string,
      predicate: (link: OwnerLinkView) => boolean,
    ): Promise<OwnerLinkView> => {
      let lastView: OwnerLinkView | undefined;
      try {
        return await waitUntil(`link ${id} has the expected state`, async () => {
          lastView = await system.readLink(id);
          return predicate(lastView) ? lastView : undefined;
        });
      } catch (error) {
        throw new Error(`${String(error)}; its last state: ${JSON.stringify(lastView)}`, {
          cause: error,
        });
      }
    },
    /**
     * Mines until all previous payments are final, and waits until this is published. To detect
     * this, it sends a last payment that completes a separate link.
     */
    settleAll: async (): Promise<void> => {
      const { decimals = 6, amountUnit: amount = 10n ** BigInt(decimals) } = chain;
      const lastLink = await system.createLink({ toAmount: formatUnits(amount, decimals) });
      await system.waitForLinkReceived(lastLink.id);
      await chain.pay({ ...lastLink, amount, payer: 2 });
      await chain.mine(1 + (finalizedLag ?? countFinalityBlocks(watchSettings.finality)));
      await system.waitForLink(lastLink.id, ({ status }) => status === "completed");
    },
    /** Returns the progress of watching a chain, as committed by the leader. */
    readProgress: async ({
      chainId,
    }: Pick<LocalEvmChain, "chainId"> = chain): Promise<WatchProgress> => {
      const { rows } = await settlementsDatabase.query<WatchProgress>(
        `SELECT scanned_to::int AS "scannedTo", finalized_to::int AS "finalizedTo",
                audited_to::int AS "auditedTo",
                halted_reason AS "haltedReason"
         FROM settlement_listener.watchers WHERE chain_id = $1`,
        [chainId],
      );
      return rows[0] ?? { scannedTo: null, finalizedTo: null, auditedTo: null, haltedReason: null };
    },
    /** Waits until the watcher has scanned the chain's newest block. */
    waitUntilScanned: async (): Promise<void> => {
      const head = await chain.readHeadNumber();
      await waitUntil(`block ${head} is scanned`, async () => {
        const { scannedTo } = await system.readProgress();
        return scannedTo !== null && scannedTo >= head;
      });
    },
    /** Waits until the watch of the chain is halted, and returns the reason. */
    waitUntilHalted: (): Promise<string> =>
      waitUntil("the chain is halted", async () => {
        const { haltedReason } = await system.readProgress();
        return haltedReason ?? undefined;
      }),
    stopWatchers: async (): Promise<void> => {
      await Promise.all(watchers.splice(0).map((watcher) => watcher.stop()));
    },
    close: async () => {
      await system.stopWatchers();
      await linksListeners.close();
      await linksApi.stop();
      await localBus.close();
      await Promise.all([linksDatabase.end(), settlementsDatabase.end()]);
      await Promise.all([links.close(), settlements.close()]);
      await rm(directory, { recursive: true, force: true });
    },
  };
  return system;
};
export type PaymentSystem = Awaited<ReturnType<typeof createPaymentSystem>>;

const countFinalityBlocks = (finality: WatchSettings["finality"]): number =>
  typeof finality === "object" ? finality.blocks : 70;

let ownerCount = 0;

/**
 * Returns a new unique address. It contains only digits, so the case of a checksum does not matter.
 */
const createEvmAddress = (): string => `0x${"1".repeat(30)}${String(ownerCount).padStart(10, "0")}`;

/** Creates an owner with a new wallet. */
const createReadyAccount = (
  wallet: Pick<Account["wallets"][number], "tokenId" | "chainType" | "walletAddress">,
): Account => {
  ownerCount += 1;
  return createSampleAccount({
    handle: `owner${ownerCount}`,
    username: "Owner",
    wallets: [
      {
        ...wallet,
        id: newId("wallet"),
        isDefault: true,
        isChainDefault: true,
        provider: null,
      },
    ],
  });
};
