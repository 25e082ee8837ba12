import { randomBytes } from "node:crypto";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "slonik";
import * as z from "zod";
import { transact } from "@payment-links/postgres";
import { tronAddressFromHex } from "@payment-links/chains/tron-address";
import {
  type DepositState,
  type PaymentLinkState,
  type SettlementState,
  type chainAdvanced,
  createCatalogue,
  topics,
} from "@payment-links/contracts";
import { createTestContext, startTestListeners } from "@payment-links/process/testing";
import { type Clock, parseConfig, systemClock } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { receiveLinks } from "../events/receive-links.ts";
import type { ChainOverride } from "@payment-links/chains/chain-settings";
import {
  createSettlementListener,
  settlementListenerConfig,
  settlementListenerMigration,
} from "../service.ts";
import type { LocalEvmChain } from "@payment-links/local-chains/evm/start-evm-chain";
import { owner, sampleLink } from "./samples.ts";
import { withShortDelays } from "./short-delays.ts";

/** A chain as returned by `GET /internal/settlement/status`. */
type ChainStatus = {
  chainId: string;
  isLeader: boolean;
  state: string;
  reason: string | null;
  head: number | null;
  firstBlock: number | null;
  scannedTo: number | null;
  finalizedTo: number | null;
  providerCount: number;
  auditedTo: number | null;
  orphanedSettledCount: number;
};

const IdRow = z.object({ id: z.string() });

/** The properties of a chain, of any family, that the rig needs. */
export type WatchableChain = Pick<
  LocalEvmChain,
  "url" | "chainId" | "catalogueData" | "readHeadNumber"
> & {
  /** Returns overrides for sample links on this chain. */
  sampleLink?: () => Partial<PaymentLinkState>;
};

/**
 * Creates the whole service for one chain, with its own database. By default it uses the system
 * clock with short delays.
 */
export const createWatchRig = async (
  chain: WatchableChain,
  override: ChainOverride = {},
  urls: readonly string[] = [chain.url],
  clock: Clock = withShortDelays(),
) => {
  const catalogue = createCatalogue(chain.catalogueData);
  const isTron = catalogue.chains[0]?.chainType === "TVM";
  const testContext = await createTestContext({
    name: "settlement-listener",
    migration: settlementListenerMigration,
    overrides: { clock, catalogue },
  });
  const { bus, context, pool } = testContext;
  const settlementEvents: { key: string | undefined; data: z.input<typeof SettlementState> }[] = [];
  const publishedIds = new Set<string>();
  const depositEvents: { type: string; deposit: z.input<typeof DepositState> }[] = [];
  await bus.subscribe({
    group: "test",
    topics: [topics.settlements],
    handle: async (records) => {
      for (const { headers, key, value } of records) {
        const data = JSON.parse(value?.toString() ?? "null");
        const type = headers["ce_type"] ?? "";
        if (type.startsWith("deposit.")) depositEvents.push({ type, deposit: data });
        else settlementEvents.push({ key, data });
        publishedIds.add(headers["ce_id"] ?? "");
      }
      return { handledCount: records.length };
    },
  });
  const chainsFile = join(mkdtempSync(join(tmpdir(), "settlement-listener-")), "chains.json");
  const settings = { pollMs: 50, headLagBlocks: 0, ...override };
  writeFileSync(chainsFile, JSON.stringify({ [chain.chainId]: settings }));
  const config = parseConfig(settlementListenerConfig, {
    EVM_RPC_URLS: urls.map((url) => `${chain.chainId}=${url}`).join(","),
    EVM_CHAINS_FILE: chainsFile,
  });
  const createService = () => createSettlementListener(context, config);
  const service = createService();
  const server = await startTestListeners(service, context);
  const readStatus = async (): Promise<ChainStatus> => {
    const response = await fetch(`${server.internalUrl}/internal/settlement/status`);
    const { chains } = (await response.json()) as { chains: ChainStatus[] };
    const [status] = chains;
    if (status === undefined) throw new Error("the chain is not configured");
    return status;
  };
  const rig = {
    ...testContext,
    config,
    service,
    metrics: context.metrics,
    internalUrl: server.internalUrl,
    /** Creates a link to be paid in the chain's USDC, without the listener receiving it. */
    sampleLink: (overrides: Partial<PaymentLinkState> = {}): PaymentLinkState =>
      sampleLink({
        chainId: chain.chainId,
        tokenAddress: catalogue.tokens[0]?.address ?? "",
        destinationAddress: isTron ? tronAddressFromHex(owner) : owner,
        paymentReference: randomBytes(16).toString("hex"),
        ...chain.sampleLink?.(),
        ...overrides,
      }),
    /** Receives links in one transaction, like the consumer does with a batch. */
    receiveLinks: (...links: readonly PaymentLinkState[]) =>
      transact(pool, (tx) =>
        receiveLinks({ catalogue, clock: systemClock })(
          tx,
          links.map((link) => ({ data: { link } })),
        ),
      ),
    /** Creates a link that the listener has received. */
    receiveNewLink: async (
      overrides: Partial<PaymentLinkState> = {},
    ): Promise<PaymentLinkState> => {
      const link = rig.sampleLink(overrides);
      await rig.receiveLinks(link);
      return link;
    },
    readStatus,
    /** Returns the published events about a link's payments, oldest first. */
    publishedPayments: (linkId: string) =>
      settlementEvents.filter(({ key }) => key === linkId).map(({ data }) => data),
    /** Returns the status and amount in each published event, oldest first. */
    publishedStatuses: (linkId: string) =>
      rig.publishedPayments(linkId).map(({ status, amount }) => `${status} ${amount}`),
    waitForPublished: (linkId: string, count: number) =>
      waitUntil(
        `the payment has ${count} published states`,
        () => rig.publishedPayments(linkId).length >= count,
      ),
    /** Waits until the latest published status of a link is this one. */
    waitForStatus: (linkId: string, status: string) =>
      waitUntil(`it is ${status}`, () => rig.publishedPayments(linkId).at(-1)?.status === status),
    /** Returns the published `settlement.chain_advanced` events, oldest first. */
    publishedAdvances: () =>
      settlementEvents
        .filter(({ key }) => key === chain.chainId)
        .map(({ data }) => data as unknown as z.input<typeof chainAdvanced.data>),
    /** Returns the published events about deposits to an address, oldest first. */
    publishedDeposits: (address: string) =>
      depositEvents.filter(({ deposit }) => deposit.destinationAddress === address),
    /**
     * Waits until all blocks up to the chain's current head have been scanned and their events have
     * been published.
     */
    waitUntilScanned: async () => {
      await waitUntil("the chain is scanned", async () => {
        const head = await chain.readHeadNumber();
        return (await readStatus()).scannedTo === head;
      });
      await waitUntil("its events are published", async () => {
        const ids = await pool.anyFirst(sql.type(IdRow)`SELECT id FROM outbox`);
        return ids.every((id) => publishedIds.has(id));
      });
    },
    close: async () => {
      await server.close();
      await service.stop();
      await testContext.close();
    },
  };
  return rig;
};
export type WatchRig = Awaited<ReturnType<typeof createWatchRig>>;

/** Creates the rig and starts its service. */
export const startWatchRig = async (
  ...args: Parameters<typeof createWatchRig>
): Promise<WatchRig> => {
  const rig = await createWatchRig(...args);
  await rig.service.start();
  return rig;
};
