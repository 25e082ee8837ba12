import { randomBytes } from "node:crypto";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type * as z from "zod";
import { transact } from "@payment-links/postgres";
import {
  type DepositState,
  type PaymentLinkState,
  type SettlementState,
  type chainAdvanced,
  createCatalogue,
  topics,
  tronFromHex,
} from "@payment-links/contracts";
import { openTestGround, serveForTest } from "@payment-links/process/testing";
import { type Clock, readConfig, systemClock } from "@payment-links/runtime";
import { waitUntil } from "@payment-links/runtime/testing";
import { hearLinks } from "../events/hear-links.ts";
import type { ChainOverride } from "../watch/chain/chain-settings.ts";
import {
  createSettlementListener,
  settlementListenerConfig,
  settlementListenerMigration,
} from "../service.ts";
import type { Chain } from "./open-chain.ts";
import { owner, sampleLink } from "./samples.ts";
import { withShortRests } from "./short-rests.ts";

/** What `GET /internal/settlement/status` says of a chain. */
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

/** What a chain of any family has, to be watched. */
export type WatchedChain = Pick<Chain, "url" | "chainId" | "catalogueData" | "headNumber"> & {
  /** What a link has that is paid there, where that is not what samples have. */
  sampleLink?: () => Partial<PaymentLinkState>;
};

/**
 * The whole service, watching a chain on a database of its own. Without another clock it goes by the
 * machine's own, with short rests.
 */
export const openWatchRig = async (
  chain: WatchedChain,
  override: ChainOverride = {},
  urls: readonly string[] = [chain.url],
  clock: Clock = withShortRests(),
) => {
  const catalogue = createCatalogue(chain.catalogueData);
  const isTron = catalogue.chains[0]?.chainType === "TVM";
  const testGround = await openTestGround({
    name: "settlement-listener",
    migration: settlementListenerMigration,
    change: { clock, catalogue },
  });
  const { bus, ground, pool } = testGround;
  const told: { key: string | undefined; data: z.input<typeof SettlementState> }[] = [];
  const deposits: { type: string; deposit: z.input<typeof DepositState> }[] = [];
  await bus.subscribe({
    group: "test",
    topics: [topics.settlements],
    handle: async (records) => {
      for (const { headers, key, value } of records) {
        const data = JSON.parse(value?.toString() ?? "null");
        const type = headers["ce_type"] ?? "";
        if (type.startsWith("deposit.")) deposits.push({ type, deposit: data });
        else told.push({ key, data });
      }
      return { handledCount: records.length };
    },
  });
  const chainsFile = join(mkdtempSync(join(tmpdir(), "settlement-listener-")), "chains.json");
  const settings = { pollMs: 50, headLagBlocks: 0, ...override };
  writeFileSync(chainsFile, JSON.stringify({ [chain.chainId]: settings }));
  const config = readConfig(settlementListenerConfig, {
    EVM_RPC_URLS: urls.map((url) => `${chain.chainId}=${url}`).join(","),
    EVM_CHAINS_FILE: chainsFile,
  });
  const open = () => createSettlementListener(ground, config);
  const service = open();
  const served = await serveForTest(service, ground);
  const readStatus = async (): Promise<ChainStatus> => {
    const answer = await fetch(`${served.internalUrl}/internal/settlement/status`);
    const { chains } = (await answer.json()) as { chains: ChainStatus[] };
    const [status] = chains;
    if (status === undefined) throw new Error("the chain is not configured");
    return status;
  };
  const rig = {
    ...testGround,
    config,
    service,
    metrics: ground.metrics,
    internalUrl: served.internalUrl,
    /** A link on the chain's USDC, of which the listener has not heard yet. */
    sampleLink: (change: Partial<PaymentLinkState> = {}): PaymentLinkState =>
      sampleLink({
        chainId: chain.chainId,
        tokenAddress: catalogue.tokens[0]?.address ?? "",
        destinationAddress: isTron ? tronFromHex(owner) : owner,
        paymentReference: randomBytes(16).toString("hex"),
        ...chain.sampleLink?.(),
        ...change,
      }),
    /** In one transaction, as the consumer hears many. */
    hear: (...links: readonly PaymentLinkState[]) =>
      transact(pool, (tx) =>
        hearLinks({ catalogue, clock: systemClock })(
          tx,
          links.map((link) => ({ data: { link } })),
        ),
      ),
    /** A link of which the listener has heard. */
    hearNew: async (change: Partial<PaymentLinkState> = {}): Promise<PaymentLinkState> => {
      const link = rig.sampleLink(change);
      await rig.hear(link);
      return link;
    },
    readStatus,
    /** What was published of a link's payments, oldest first. */
    told: (linkId: string) => told.filter(({ key }) => key === linkId).map(({ data }) => data),
    /** The same in short: each status, and the amount. */
    statuses: (linkId: string) =>
      rig.told(linkId).map(({ status, amount }) => `${status} ${amount}`),
    waitTold: (linkId: string, count: number) =>
      waitUntil("it is told", () => rig.told(linkId).length >= count),
    /** Waits until that is what was told of a link last. */
    waitStatus: (linkId: string, status: string) =>
      waitUntil(`it is ${status}`, () => rig.told(linkId).at(-1)?.status === status),
    /** How far others were told that the chain is, oldest first. */
    advances: () =>
      told
        .filter(({ key }) => key === chain.chainId)
        .map(({ data }) => data as unknown as z.input<typeof chainAdvanced.data>),
    /** What was published of deposits to an address, oldest first. */
    deposits: (address: string) =>
      deposits.filter(({ deposit }) => deposit.destinationAddress === address),
    /** Waits until everything up to the chain's present head has been scanned. */
    caughtUp: () =>
      waitUntil("the chain is scanned", async () => {
        const head = await chain.headNumber();
        return (await readStatus()).scannedTo === head;
      }),
    close: async () => {
      await served.close();
      await service.stop();
      await testGround.close();
    },
  };
  return rig;
};
export type WatchRig = Awaited<ReturnType<typeof openWatchRig>>;

/** The same, watching. */
export const startWatchRig = async (
  ...given: Parameters<typeof openWatchRig>
): Promise<WatchRig> => {
  const rig = await openWatchRig(...given);
  await rig.service.start();
  return rig;
};
