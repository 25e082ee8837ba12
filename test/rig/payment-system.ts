import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { formatUnits } from "viem";
import { type Bus, createLocalBus } from "@payment-links/bus";
import {
  type Account,
  type ChainType,
  type IntrospectionResponse,
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
import type { LocalEvmChain } from "@payment-links/settlement-listener/testing";
import { waitUntil } from "@payment-links/runtime/testing";
import { createShiftedClock } from "@payment-links/runtime/testing/shifted-clock";

const pollMs = 50;

/** How a chain is watched; the names are those of `EVM_CHAINS_FILE`. */
export type WatchSettings = {
  finality?: "finalized" | "safe" | { blocks: number };
  finalDepthBlocks?: number;
  headLagBlocks?: number;
  rangeBlocksMax?: number;
  pollMs?: number;
};

/** What a chain of any family has, to be watched and paid on. */
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
  /**
   * An address that nobody else has, or a key of Bitcoin; and the id of the token in which it is paid if
   * not said.
   */
  createAddress?: () => string;
  tokenId?: string;
  /** The token's places, 6 if not given, and a small amount in its base units: 1 if not given. */
  decimals?: number;
  amountUnit?: bigint;
};

type SystemOptions = {
  chain: PaidChain;
  settings?: WatchSettings;
  /** How many blocks behind the head is what is `finalized`. */
  finalizedLag?: number | undefined;
  /** Chains that are watched as well, with the same settings. */
  otherChains?: readonly PaidChain[];
  /**
   * What stands between the watcher and the chain's node, the primary first; if not given, the node
   * itself.
   */
  rpcUrls?: readonly string[];
  /** Whether transfers straight to owners are read, and may name links by a suffix; not if not given. */
  watchesTransfers?: boolean;
};

export type LinkOptions = {
  toAmount: string;
  /** The catalogue's id of the token in which the link settles. */
  tokenId?: string;
  maxUsage?: number;
  expirationDate?: string;
  description?: string;
  /** What the link's owner tells of themselves. */
  owner?: Partial<Account>;
};

/** What the owner of a link is shown of it. */
export type OwnerLinkView = {
  status: string;
  receivedAmount: string;
  payments: {
    status: string;
    applied: boolean;
    reason: string | null;
    amount: string;
    sourceTransaction: string | null;
    /** Its chain took the payment away after it had settled. */
    orphaned?: true;
  }[];
};

type WatchProgress = {
  scannedTo: number | null;
  finalizedTo: number | null;
  /** Up to which block a second provider has been asked, if there is one. */
  auditedTo: number | null;
  haltedReason: string | null;
};

/**
 * links-api and settlement-listener in this process on one local bus, each over a database of its own,
 * watching a chain by the machine's own clock, which a test can set ahead. The watcher runs when it is started.
 */
export const createPaymentSystem = async ({
  chain,
  settings = {},
  finalizedLag,
  otherChains = [],
  rpcUrls = [chain.url],
  watchesTransfers = false,
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
  const catalogueFile = join(directory, "catalogue.json");
  await writeFile(
    chainsFile,
    JSON.stringify(Object.fromEntries(chains.map(({ chainId }) => [chainId, watchSettings]))),
  );
  await writeFile(catalogueFile, JSON.stringify(catalogue));
  /** The settings by which a listener knows which chains to watch, and how. */
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
      if (areLinkEventsHeld && containsLinkEvents) throw new Error("the broker is away");
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
  });
  const linksApi = createLinksApi(links.context, linksConfig);
  const linksListeners = await startTestListeners(linksApi, links.context);
  await linksApi.start();

  const linksDatabase = new Client({ connectionString: links.database.adminUrl });
  const settlementsDatabase = new Client({ connectionString: settlements.database.adminUrl });
  await Promise.all([linksDatabase.connect(), settlementsDatabase.connect()]);

  /** Another instance of the listener on the same database, which starts to watch at once. */
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
      metrics,
      internalUrl: internalListeners.internalUrl,
      /** The sum of a metric over its labels; 0 where nothing was counted. */
      readMetric: async (name: string): Promise<number> => {
        const metricValue = await metrics.getSingleMetric(name)?.get();
        return (metricValue?.values ?? []).reduce((sum, { value }) => sum + value, 0);
      },
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

  /** The session of each link's owner. */
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
    /** The settings of a listener in a process of its own, to watch on the same database. */
    watcherEnv: {
      ...buildWatcherEnv(rpcUrls),
      DATABASE_URL: settlements.context.databaseUrl,
      CATALOGUE_FILE: catalogueFile,
    },
    /** Lets the time of day of both services jump ahead. */
    advanceClock: (ms: number) => {
      clockShift.nowMs += ms;
    },
    /** Holds back all events about links, as a broker does that is away, until told otherwise. */
    holdLinkEvents: (isHeld: boolean) => {
      areLinkEventsHeld = isHeld;
    },
    startWatcher: async (urls?: readonly string[]) => {
      const watcher = await startWatcher(urls);
      watchers.push(watcher);
      return watcher;
    },
    /** Creates a link as its owner would in the console: what a payer needs to pay it. */
    createLink: async ({ tokenId = chain.tokenId ?? "usdc", owner, ...linkBody }: LinkOptions) => {
      const account = { ...createReadyAccount({ tokenId, chainType, createAddress }), ...owner };
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
        /** The owner's own address, on Bitcoin the link's. */
        to: rows[0]?.to ?? "",
        /** Where its payers open it. */
        pageUrl: `${linksListeners.publicUrl}/@${account.handle}/pay/${String(id)}`,
      };
    },
    /** Its owner has it take no more payments. */
    deactivate: (id: string): Promise<unknown> =>
      call(`/console/api/payment-links/${id}/deactivate`, cookies.get(id) ?? "", {}),
    /** Waits until the watcher knows that somebody is paid at an address. */
    waitForOwnerAddress: (address: string): Promise<unknown> =>
      waitUntil("the watcher knows the owner's address", async () => {
        const { rowCount } = await settlementsDatabase.query(
          "SELECT FROM settlement_listener.owner_addresses WHERE address = $1",
          [address],
        );
        return rowCount === 1;
      }),
    /** How many unmatched deposits there are at an address. */
    countDeposits: async (address: string): Promise<number> => {
      const { rows } = await linksDatabase.query<{ count: number }>(
        "SELECT count(*)::int AS count FROM links_api.deposits WHERE destination_address = $1",
        [address],
      );
      return rows[0]?.count ?? 0;
    },
    /**
     * Waits until the listener has heard of a link. On Solana an owner is asked about from then on, an
     * hour back, with the next block; a chain that is mined by hand may have none.
     */
    waitForLinkReceived: (id: string): Promise<unknown> =>
      waitUntil(`link ${id} is heard of`, async () => {
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
    /** Waits until what the owner is shown passes a test, and answers it. */
    waitForLink: async (
      id: string,
      predicate: (link: OwnerLinkView) => boolean,
    ): Promise<OwnerLinkView> => {
      let lastView: OwnerLinkView | undefined;
      try {
        return await waitUntil(`link ${id} as expected`, async () => {
          lastView = await system.readLink(id);
          return predicate(lastView) ? lastView : undefined;
        });
      } catch (error) {
        throw new Error(`${String(error)}; it is ${JSON.stringify(lastView)}`, { cause: error });
      }
    },
    /**
     * Mines until all payments so far are final, and waits until that has been published. It knows
     * this by a last payment, on a link of its own, that has completed that link.
     */
    settleAll: async (): Promise<void> => {
      const { decimals = 6, amountUnit: amount = 10n ** BigInt(decimals) } = chain;
      const lastLink = await system.createLink({ toAmount: formatUnits(amount, decimals) });
      await system.waitForLinkReceived(lastLink.id);
      await chain.pay({ ...lastLink, amount, payer: 2 });
      await chain.mine(1 + (finalizedLag ?? countFinalityBlocks(watchSettings.finality)));
      await system.waitForLink(lastLink.id, ({ status }) => status === "completed");
    },
    /** How far a chain has been watched, by what the leader has committed. */
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
    /** Waits until the watcher has seen the chain's newest block. */
    waitUntilScanned: async (): Promise<void> => {
      const head = await chain.readHeadNumber();
      await waitUntil(`block ${head} is scanned`, async () => {
        const { scannedTo } = await system.readProgress();
        return scannedTo !== null && scannedTo >= head;
      });
    },
    /** Waits until the watching of a chain has been halted, and answers why. */
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

/** An address that nobody else has. Digits only: upper and lower case look the same. */
const createEvmAddress = (): string => `0x${"1".repeat(30)}${String(ownerCount).padStart(10, "0")}`;

/** A new owner with a wallet of their own. */
const createReadyAccount = ({
  tokenId,
  chainType,
  createAddress,
}: {
  tokenId: string;
  chainType: ChainType;
  createAddress: () => string;
}): Account => {
  ownerCount += 1;
  return createSampleAccount({
    handle: `owner${ownerCount}`,
    username: "Owner",
    wallets: [
      {
        id: newId("wallet"),
        walletAddress: createAddress(),
        tokenId,
        chainType,
        isDefault: true,
        isChainDefault: true,
        provider: null,
      },
    ],
  });
};
