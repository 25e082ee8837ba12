import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "pg";
import { Decimal, depositDecisions, openCatalogue } from "@payment-links/contracts";
import type { TestDatabase } from "@payment-links/postgres/testing";
import { finalDepth, safeDepth } from "./block.ts";
import { createChain } from "./chain.ts";
import { type ChainKind, base, bitcoin, solana, tron } from "./chain-kinds.ts";
import { type Dump, dumpSchema } from "./dumps.ts";
import { Finding, hold } from "./finding.ts";
import { type Received, type Sent, injectRequest } from "./inject-request.ts";
import type { ShownDeposit } from "./deposit-model.ts";
import { type ShownLink, type ShownOverview, type ShownPayment, createModel } from "./model.ts";
import type { Money } from "./money.ts";
import { answerAsNode } from "./node.ts";
import type { Manner, Provider } from "./node-view.ts";
import { postgresSeam } from "./postgres-seam.ts";
import { type Random, createRandom } from "./random.ts";
import {
  type Replica,
  type ServiceName,
  type Stage,
  migrations,
  serviceNames,
  startReplica,
} from "./replica.ts";
import { enter } from "./seams.ts";
import { type Errand, acme, hostsOfReceivers, openShop } from "./shop.ts";
import { createSimBus } from "./sim-bus.ts";
import { type Act, type Fate, type Owner, createWorld, runAs } from "./world.ts";

const start = new Date("2026-11-21T10:00:00.000Z");
const wildMs = 60_000;
const wildStepsMax = 4_000;
const mildStepsMax = 2_000;
/** Each request to a node leaves a timer behind, and each timer is a step: on Bitcoin these are many. */
const calmStepsMax = 300_000;
const providerCounts = [1, 2, 2, 3];
/** Longer than any pause of the watcher's. */
const restMs = 60_000;
const dayMs = 24 * 60 * 60 * 1000;
/** So many blocks after its own, nothing is left on Solana of what was taken away. */
const livesForBlocks = 152;
/** So many of them are looked through further back, each time that a block is final. */
const lookedThroughBlocks = 20;
const mannerMsMax = 40_000;
/** So many that a watcher reads them in wide ranges, without their headers. */
const burstBlocks = 120;
const errandWaitMsMax = 1_500;
/** The watch begins at the last final block at the start: a fork below that cannot be healed. */
const forkedFromMin = 20;
const paymentsOfOrderMax = 4;
const depositsMax = 12;
const replicasOf: Readonly<Record<ServiceName, number>> = {
  "links-api": 2,
  "settlement-listener": 2,
  "webhook-dispatcher": 2,
};

const sealingKey = `test=${Buffer.alloc(32, 7).toString("base64")}`;

const env = {
  "webhook-dispatcher": {
    WEBHOOK_SECRET_KEYS: sealingKey,
    WEBHOOK_HOST_OVERRIDES: hostsOfReceivers.map((host) => `${host}=http://127.0.0.1:9`).join(","),
    // The third attempt is made when all is calm again, so that no delivery fails for good.
    WEBHOOK_RETRY_SCHEDULE_SECONDS: "0,20,60,120,240,480",
  },
};

const policies = [
  { finality: "safe" },
  { finality: "finalized" },
  { finality: { blocks: 3 } },
] as const;

/** By one confirmation and more, as the product has it, and by more than a fork takes away. */
const amountPolicies = [
  {
    finality: { blocks: 0 },
    finalityByAmount: [
      { from: "2", blocks: 2 },
      { from: "4", blocks: 5 },
    ],
  },
  { finality: { blocks: 3 }, finalityByAmount: [{ from: "3", blocks: 5 }] },
] as const;

type Policy = (typeof policies)[number] | (typeof amountPolicies)[number];

const depthBy =
  (policy: Policy): Way["depthOf"] =>
  ({ amount }) =>
    "finalityByAmount" in policy
      ? Math.max(
          policy.finality.blocks,
          ...policy.finalityByAmount.map(({ blocks, from }) =>
            new Decimal(amount).greaterThanOrEqualTo(from) ? blocks : 0,
          ),
        )
      : safeDepth;

type DepositWay = { set: object; unitsMin: number | undefined };

/** Bitcoin has none: each link has an address of its own. */
const noDeposits: readonly DepositWay[] = [{ set: {}, unitsMin: undefined }];

/** Whether deposits are looked for, mostly they are, and what is the least that shows. */
const depositWaysOf = ({ tokens }: ChainKind): readonly DepositWay[] => {
  const looked: readonly DepositWay[] = [
    { set: { findsDeposits: true }, unitsMin: 10_000 },
    {
      set: {
        findsDeposits: true,
        depositMinimums: Object.fromEntries(tokens.map(({ address }) => [address, "1"])),
      },
      unitsMin: 1_000_000,
    },
  ];
  return [...noDeposits, ...looked, ...looked];
};

/** A way in which an operator has a chain watched. */
type Way = {
  kind: ChainKind;
  file: string;
  depositUnitsMin: number | undefined;
  /** So many blocks on top of its own, at least, make money count. */
  depthOf: (money: Pick<Money, "amount">) => number;
};

/** How a chain is watched, in each of the ways that an operator may choose. */
const waysOf = (
  kind: ChainKind,
  ways: readonly DepositWay[],
  tags: readonly Policy[],
): readonly Way[] =>
  tags.flatMap((policy) =>
    kind.rangesBlocksMax.flatMap((rangeBlocksMax) =>
      ways.map(({ set, unitsMin }): Way => {
        const common = { rangeBlocksMax, headLagBlocks: 0, pollMs: 1_000, ...kind.settings };
        const settings = { ...policy, ...set, ...common };
        const file = join(mkdtempSync(join(tmpdir(), "simulation-")), "chains.json");
        writeFileSync(file, JSON.stringify({ [kind.chainId]: settings }));
        return { kind, file, depositUnitsMin: unitsMin, depthOf: depthBy(policy) };
      }),
    ),
  );

/** Tron has no `safe`, Solana counts slots and not blocks, Bitcoin has no tags. */
const waysByKind = [
  waysOf(base, depositWaysOf(base), policies),
  waysOf(tron, depositWaysOf(tron), policies.slice(1)),
  waysOf(solana, depositWaysOf(solana), policies.slice(1, 2)),
  waysOf(bitcoin, noDeposits, amountPolicies),
];

/** The first that a seed draws. */
const drawWays = (random: Random): readonly Way[] =>
  random.pick([waysByKind[0] ?? [], ...waysByKind]);

export const chainsPlayed = waysByKind.flatMap(([way]) => way?.kind.chainId ?? []);

/** On which chain a seed's episode plays. */
export const chainOfSeed = (seed: number): string =>
  drawWays(createRandom(seed))[0]?.kind.chainId ?? "";

const troubles = ["lags", "stands still", "is silent", "refuses"] as const;
const lies = ["omits logs", "omits receipts", "renames blocks", "invents"] as const;

export type EpisodeResult = {
  seed: number;
  steps: number;
  digest: string;
  counts: ReadonlyMap<string, number>;
  /** What must never be, or undefined. */
  finding: string | undefined;
  lines: readonly string[];
  logLines: readonly string[];
};

/** The schemas of the services whose money this is. */
export const schemas = serviceNames.map((name) => migrations[name]);

/** Empties every table but those that the migrations filled. */
const wipe = async (admin: Client): Promise<void> => {
  const { rows } = await admin.query<{ name: string; schema: string }>(
    `
    SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) AS name, schemaname AS schema
    FROM pg_tables WHERE schemaname = ANY ($1) AND tablename NOT IN ('migrations', 'relay_lead')
    ORDER BY 1
  `,
    [schemas.map(({ schema }) => schema)],
  );
  await admin.query(`TRUNCATE ${rows.map(({ name }) => name).join(", ")} RESTART IDENTITY`);
  for (const { schema } of schemas)
    await admin.query(`UPDATE ${schema}.relay_lead SET holder = NULL`);
};

/** Plays one episode: wild for a while, then calm until all is quiet, and then all must be right. */
export const playEpisode = async (
  seed: number,
  {
    admin,
    database,
    heard,
    isOver,
    lookout,
  }: {
    admin: Client;
    database: TestDatabase;
    heard?: (line: string) => void;
    /** Whether to end at once. */
    isOver: () => boolean;
    /** A session beside the episode's database: what looks on from within would change it. */
    lookout: Client;
  },
): Promise<EpisodeResult> => {
  const world = createWorld(createRandom(seed), start, heard);
  const { random } = world;
  const way = random.pick(drawWays(random));
  const { kind } = way;
  const isBitcoin = kind === bitcoin;
  const model = createModel({ count: world.count, isPlaceTold: isBitcoin });
  const { chainId } = kind;
  world.count(`episodes on ${kind.chainType}`);
  const chain = createChain(world, kind, way.depthOf);
  const shop = openShop(world, model, chain, way);
  const providers = Array.from({ length: random.pick(providerCounts) }, (_, index): Provider => ({
    host: `rpc-${index + 1}.sim`,
    manner: { kind: "honest" },
    program: {
      isCore: isBitcoin && random.chance(0.6),
      replaces: !isBitcoin || random.chance(0.8),
    },
  }));
  let nextBlockMs = world.nowMs();
  let lastBlockMs = world.nowMs();
  const bus = createSimBus(world, { kept: model.heard, lost: model.lost });
  const logLines: string[] = [];
  const stage: Stage = {
    world,
    bus,
    urlOf: (role) => database.urlOf(role),
    ask: shop.ask,
    catalogue: openCatalogue(),
    env: {
      ...env,
      "links-api": { SETTLEMENT_CHAINS: chainId },
      "settlement-listener": {
        SETTLEMENT_PROVIDER_SECRETS: `${acme.name}=${acme.secret}`,
        RPC_URLS: providers.map(({ host }) => `${chainId}=http://${host}:8545`).join(","),
        CHAINS_FILE: way.file,
      },
    },
    logged: (line) => {
      logLines.push(`${world.steps()} ${line.trim()}`);
      if (logLines.length > 60) logLines.shift();
    },
  };
  // Each episode has its own weather: where all goes wrong at once, little gets far.
  const mood = {
    statement: random.pick([0, 0.001, 0.003, 0.01]),
    call: random.pick([0, 0.03, 0.1]),
    kill: random.pick([0, 0.01, 0.04]),
    rebalance: random.pick([0, 0.05, 0.2]),
    away: random.pick([0, 0.02, 0.05]),
    flight: random.pick([0, 0.05, 0.1]),
    fork: random.pick([0, 0.1, 0.3]),
    // On Bitcoin payments are to wait for a while.
    blockMsMax: random.pick(isBitcoin ? [2_000, 10_000] : [1_000, 4_000]),
    deepFork: random.pick([0, 0.02, 0.04]),
    burst: random.pick([0, 0, 0.02]),
    deactivation: random.pick([0.01, 0.1]),
    dump: random.pick([0, 0.05]),
    lostLog: random.pick([0, 0.015]),
    operator: random.pick([0, 0.03]),
    provider: random.pick([0, 0.1, 0.3]),
    lies: random.pick([0, 0.5, 1]),
    disturbance: random.pick([0.02, 0.05]),
    lag: random.pick([0, 0, 3_000, 12_000]),
    orders: random.pick([4, 4, 12]),
    deposits: random.pick([0.2, 0.6]),
    replacements: isBitcoin ? random.pick([0.05, 0.3]) : 0,
  };
  /** The provider that is asked first leaves out logs for as long as the episode lasts. */
  const hasHabit = providers.length > 1 && random.chance(0.35);
  const isFirstLiar = hasHabit || random.chance(0.5);
  const replicas: Replica[] = [];
  const restarts: { name: ServiceName; atMs: number }[] = [];
  let replicaCount = 0;
  let isWild = false;
  let hasBegun = false;

  const startOne = (name: ServiceName): void => {
    replicaCount += 1;
    replicas.push(startReplica(stage, name, replicaCount));
  };

  const kill = async (owner: Owner): Promise<void> => {
    const at = replicas.findIndex((one) => one.owner === owner);
    const [replica] = replicas.splice(at, 1);
    if (at < 0 || replica === undefined) return;
    owner.isDead = true;
    world.forget(owner);
    bus.drop(owner);
    await postgresSeam.cut(owner);
    deaths.get(owner)?.forEach((tell) => tell());
    deaths.delete(owner);
    world.count(`crash of ${replica.name}`);
    restarts.push({ name: replica.name, atMs: world.nowMs() + 200 + random.below(8_000) });
  };

  const deaths = new Map<Owner, (() => void)[]>();

  const call = (replica: Replica, isInternal: boolean, sent: Sent): Promise<Received> => {
    const app = isInternal ? replica.internalApp : replica.app;
    if (app === undefined) return Promise.resolve({ status: 503, text: "not started" });
    const { promise: died, resolve } = Promise.withResolvers<Received>();
    const list = deaths.get(replica.owner) ?? [];
    deaths.set(replica.owner, list);
    list.push(() => resolve({ status: 599, text: "the process died" }));
    const answered = runAs(replica.owner, () => injectRequest(app, sent));
    return Promise.race([answered, died]);
  };

  const upOf = (name: ServiceName) =>
    replicas.filter((one) => one.name === name && one.app !== undefined);

  let failure: unknown;
  const runErrand = (errand: Errand): void => {
    const replica = random.pick(upOf(errand.service));
    errand.underWay += 1;
    world.say(`errand ${errand.what} to ${replica.owner.name}`);
    call(replica, errand.isInternal === true, errand.send())
      .then((answer) => {
        errand.underWay -= 1;
        world.say(`errand ${errand.what}: ${answer.status}`);
        if (!shop.errands.includes(errand)) return;
        errand.notBeforeMs = world.nowMs() + 100 + random.below(errandWaitMsMax);
        if (errand.answered(answer)) shop.errands.splice(shop.errands.indexOf(errand), 1);
      })
      .catch((error: unknown) => {
        failure ??= error;
      });
  };

  const decide = (act: Act): Fate => {
    if (!isWild || act.fates.length === 0) return "pass";
    const odds = act.kind === "sql" ? mood.statement : mood.call;
    return random.chance(odds) ? random.pick(act.fates) : "pass";
  };

  const restartDue = (): void => {
    for (const replica of replicas.filter((one) => one.hasFailed)) {
      replicas.splice(replicas.indexOf(replica), 1);
      restarts.push({ name: replica.name, atMs: world.nowMs() + 1_000 });
    }
    for (const restart of restarts.filter(({ atMs }) => atMs <= world.nowMs())) {
      restarts.splice(restarts.indexOf(restart), 1);
      startOne(restart.name);
    }
  };

  /** One thing happens; false if there is nothing that could. */
  const happen = async (): Promise<boolean> => {
    if (failure !== undefined) throw failure;
    if (isOver()) throw new Error("nobody waits for the end");
    restartDue();
    const offers = bus.offers();
    const idle = shop.errands.filter(
      (errand) =>
        upOf(errand.service).length > 0 &&
        errand.notBeforeMs <= world.nowMs() &&
        (errand.underWay === 0 || (isWild && errand.underWay < 2 && random.chance(0.02))),
    );
    const readyCount = world.countReady();
    const total = readyCount + offers.length + idle.length;
    if (total === 0) return false;
    const chosen = random.below(total);
    const offer = offers[chosen - readyCount];
    const errand = idle[chosen - readyCount - offers.length];
    if (chosen < readyCount) {
      await world.step(decide, kill);
    } else if (offer !== undefined) {
      world.say(offer.what);
      offer.begin();
      await world.quiet();
    } else if (errand !== undefined) {
      runErrand(errand);
      await world.quiet();
    }
    if (failure !== undefined) throw failure;
    return true;
  };

  const mineDue = (): void => {
    if (world.nowMs() < nextBlockMs) return;
    nextBlockMs = world.nowMs() + 500 + random.below(mood.blockMsMax);
    lastBlockMs = world.nowMs();
    if (random.chance(mood.fork)) {
      world.count("forks");
      const { depth } = chain.fork({ isDeep: false });
      world.say(`a fork of ${depth}, up to ${chain.tip().number}`);
    } else {
      chain.mine();
      world.say(`block ${chain.tip().number}`);
    }
  };

  let isRecovering = false;
  let mannersUntilMs = 0;
  let dumped: { name: ServiceName; dump: Dump } | undefined;
  let sharedBlock: number | undefined;

  const takeDump = async (): Promise<void> => {
    const name = random.pick(serviceNames);
    const isTold = shop.errands.some(
      ({ service, what }) =>
        service === name && /^(?:order|deactivate|notice|deposits|assign|dismiss)/.test(what),
    );
    if (isTold || isRecovering) return;
    dumped = { name, dump: await dumpSchema(admin, migrations[name].schema) };
    world.say(`a dump of ${name}`);
  };

  const restoreDump = async ({ name, dump }: { name: ServiceName; dump: Dump }): Promise<void> => {
    world.say(`a restore of ${name}`);
    world.count(`restore of ${name}`);
    for (const { owner } of replicas.filter((one) => one.name === name)) await kill(owner);
    await dump.restore();
    model.restored(name);
    dumped = undefined;
    isRecovering ||= name === "links-api";
    shop.republishAll();
  };

  const resumeIfHalted = async (): Promise<void> => {
    if (sharedBlock === undefined) return;
    const { rows } = await admin.query(
      "SELECT FROM settlement_listener.watchers WHERE halted_reason IS NOT NULL",
    );
    if (rows.length === 0 || shop.errands.some(({ what }) => what === "resume")) return;
    const body = { chainId, sharedBlock };
    model.deposits.resumed();
    shop.order("settlement-listener", {
      what: "resume",
      path: "/internal/settlement/resume",
      body,
    });
  };

  /** What operators do, and what makes them do it. */
  const operate = async (): Promise<void> => {
    // The shop stays closed until what was restored has read again what it lacks.
    const isToldAgain = !shop.errands.some(({ what }) => what.includes("republish"));
    if (isToldAgain && bus.isRead()) isRecovering = false;
    if (dumped === undefined && random.chance(mood.dump)) await takeDump();
    else if (dumped !== undefined && random.chance(0.05)) await restoreDump(dumped);
    // What links-api lost, and the order in which it had heard it, must not both be gone.
    const isOrderKept = dumped?.name !== "links-api" && !isRecovering;
    if (random.chance(mood.lostLog) && isOrderKept) {
      world.say("the broker loses its log");
      world.count("the broker loses its log");
      bus.loseLog();
      shop.republishAll();
    }
    if (random.chance(mood.deepFork) && chain.tip().number > forkedFromMin) {
      const forked = chain.fork({ isDeep: true });
      const { slot } = forked.shared;
      sharedBlock = Math.min(sharedBlock ?? Infinity, slot);
      world.say(`a deep fork from ${slot}`);
      world.count("deep forks");
    }
    if (random.chance(mood.burst)) {
      for (let mined = 0; mined < burstBlocks; mined += 1) chain.mine();
      world.say(`many blocks, up to ${chain.tip().number}`);
      world.count("many blocks at once");
    }
    if (random.chance(0.5)) await resumeIfHalted();
    if (random.chance(mood.operator)) {
      const fromBlock = random.below(chain.tip().slot);
      const body = { chainId, fromBlock, toBlock: fromBlock + random.below(10) };
      if (random.chance(0.5)) {
        shop.order("settlement-listener", {
          what: "rescan",
          path: "/internal/settlement/rescan",
          body,
        });
      } else {
        shop.republishAll();
      }
    }
  };

  /**
   * Only one of an episode tells stories: of two nobody could know which to believe, also if one does
   * when a block is read and the other when it is audited. Others may be away meanwhile. Some manners
   * last until the blocks of their time are final.
   */
  const changeManners = (): void => {
    for (const provider of providers) provider.manner = { kind: "honest" };
    mannersUntilMs = world.nowMs() + random.below(mannerMsMax);
    const [liar, ...others] = isFirstLiar ? providers : providers.toReversed();
    if (liar !== undefined && others.length > 0) {
      if (hasHabit) liar.manner = { kind: "omits logs", upTo: "blooms" };
      else if (random.chance(mood.lies)) liar.manner = drawManner(random.pick(lies));
    }
    for (const provider of others.length === 0 ? providers : others) {
      if (random.chance(0.3)) provider.manner = drawManner(random.pick(troubles));
    }
    world.say(providers.map(({ host, manner }) => `${host} ${manner.kind}`).join(", "));
  };

  const drawManner = (kind: (typeof lies | typeof troubles)[number]): Manner => {
    switch (kind) {
      case "lags":
        return { kind, blocks: 1 + random.below(4) };
      case "stands still":
        return { kind, tip: chain.tip() };
      case "refuses":
        return { kind, status: random.pick([429, 500, 403]) };
      case "renames blocks":
        return { kind, from: Math.max(0, chain.tip().number - random.below(10)) };
      case "invents": {
        const forged = shop.forge();
        if (forged === undefined) return { kind: "omits logs", upTo: "blooms" };
        // A transaction that waits can be invented, too, where nodes tell of them.
        const aboveTip = isBitcoin ? random.below(8) : 0;
        const number = chain.tip().number + aboveTip - random.below(4);
        return { kind, forged: new Map([[number, forged]]) };
      }
      case "omits logs":
        return { kind, upTo: random.pick(["answers", "blooms", "receipts"]) };
      case "is silent":
      case "omits receipts":
        return { kind };
    }
  };

  const flyTo = (moreMsMax: number): void => {
    const next = Math.min(
      world.nextTimerMs() ?? Infinity,
      ...restarts.map(({ atMs }) => atMs),
      ...shop.errands.map(({ notBeforeMs }) => Math.max(notBeforeMs, world.nowMs() + 1)),
    );
    const byMs = Math.max(0, next - world.nowMs()) + random.below(moreMsMax);
    world.advance(Number.isFinite(byMs) ? byMs : 1_000);
  };

  const askWhoIsHeardOf = async (): Promise<void> => {
    const { rows } = await admin.query<{ address: string }>(
      "SELECT address FROM settlement_listener.owner_addresses ORDER BY 1",
    );
    shop.heardOf(rows.map(({ address }) => address));
  };

  const moveDeposits = async (mayDecide: boolean): Promise<void> => {
    if (model.deposits.all.length < depositsMax && random.chance(mood.deposits)) {
      await askWhoIsHeardOf();
      shop.deposit();
    }
    if (mayDecide && model.deposits.all.length > 0 && random.chance(mood.deposits)) {
      shop.lookAtDeposits();
    }
  };

  const disturb = async (): Promise<void> => {
    const linked = model.orders.filter(({ linkId }) => linkId !== undefined);
    // What nobody tells a second time would be lost with the time between a dump and its restore.
    const mayOrder = dumped?.name !== "links-api" && !isRecovering;
    const byNotice = dumped?.name !== "settlement-listener";
    if (isBitcoin) await askWhoIsHeardOf();
    if (random.chance(mood.replacements)) shop.replace();
    if (mayOrder && model.orders.length < mood.orders && random.chance(0.2)) shop.placeOrder();
    const paymentsMax = mood.orders * paymentsOfOrderMax;
    if (linked.length > 0 && model.payments.length < paymentsMax && random.chance(0.4)) {
      shop.pay(random.pick(linked), { byNotice });
    }
    if (mayOrder && linked.length > 0 && random.chance(mood.deactivation)) {
      const order = random.pick(linked);
      if (!order.isDeactivationAsked) shop.deactivate(order);
    }
    await moveDeposits(mayOrder);
    await operate();
    if (random.chance(mood.rebalance)) {
      world.say("rebalance");
      world.count("rebalance");
      bus.rebalanceAny();
    }
    if (random.chance(bus.isAway() ? 0.2 : mood.away)) {
      bus.setAway(!bus.isAway());
      world.say(`the broker is away: ${bus.isAway()}`);
      world.count("the broker goes or comes");
    }
    // All may be down after a restore.
    if (random.chance(mood.kill) && replicas.length > 0) {
      const replica = random.pick(replicas);
      world.say(`kill ${replica.owner.name}`);
      await kill(replica.owner);
    }
    if (random.chance(mood.provider) && world.nowMs() >= mannersUntilMs) changeManners();
    if (random.chance(mood.flight)) {
      const byMs = random.below(random.chance(0.2) ? 12_000 : 1_500);
      world.say(`time passes: ${byMs}`);
      world.advance(byMs);
    }
    await world.quiet();
  };

  const beWild = async (): Promise<void> => {
    isWild = true;
    const until = world.nowMs() + wildMs;
    for (let turn = 0; turn < wildStepsMax && world.nowMs() < until; turn += 1) {
      mineDue();
      if (random.chance(mood.disturbance) && replicas.length > 0) await disturb();
      if (!(await happen())) flyTo(1_000);
    }
    isWild = false;
  };

  /** Payers of Bitcoin go on while little else goes wrong: what they send is seen before it is mined. */
  const beMild = async (): Promise<void> => {
    const until = world.nowMs() + wildMs;
    for (let turn = 0; turn < mildStepsMax && world.nowMs() < until; turn += 1) {
      mineDue();
      if (random.chance(0.02)) {
        await askWhoIsHeardOf();
        const linked = model.orders.filter(({ reference }) => reference !== undefined);
        if (linked.length > 0 && random.chance(0.5)) {
          shop.pay(random.pick(linked), { byNotice: false });
        } else shop.replace();
      }
      if (!(await happen())) flyTo(1_000);
    }
  };

  const beCalm = async (isDone: () => Promise<boolean>): Promise<void> => {
    for (let turn = 0; turn < calmStepsMax; turn += 1) {
      if (await happen()) continue;
      if (await isDone()) return;
      flyTo(12_000);
    }
    const errands = shop.errands.map(({ what }) => what).join();
    const left = `errands ${errands}, rows ${await countLeft()}, all is read ${bus.isRead()}`;
    throw new Finding(`it does not come to rest: ${left}`);
  };

  const countLeft = async (): Promise<number> => {
    const { rows } = await admin.query<{ count: string }>(`
      SELECT (SELECT count(*) FROM links_api.outbox)
        + (SELECT count(*) FROM settlement_listener.outbox)
        + (SELECT count(*) FROM webhook_dispatcher.outbox)
        + (SELECT count(*) FROM webhook_dispatcher.deliveries)
        + (SELECT count(*) FROM settlement_listener.rescans)
        + (SELECT 1 - count(*) FROM settlement_listener.watchers
           WHERE scanned_to IS NOT NULL AND halted_reason IS NULL)
        AS count
    `);
    return Number(rows[0]?.count);
  };

  const isRested = async (): Promise<boolean> => {
    if (!hasBegun) return true;
    const isDone = chain.isSettled() && !(await isRescanWaiting());
    if (!isDone) {
      nextBlockMs = Math.min(nextBlockMs, world.nowMs());
      mood.fork = 0;
      mineDue();
    }
    return isDone && world.nowMs() - lastBlockMs > restMs;
  };

  /** A rescan reads final blocks only, and what it was asked to read may have been the tip. */
  const isRescanWaiting = async (): Promise<boolean> => {
    const { rows } = await admin.query(`
      SELECT FROM settlement_listener.rescans JOIN settlement_listener.watchers USING (chain_id)
      WHERE next_block > finalized_to
    `);
    return rows.length > 0;
  };

  const isQuiet = async (): Promise<boolean> => {
    await resumeIfHalted();
    return (await isRested()) && (await isAtRest());
  };

  const isAtRest = async (): Promise<boolean> =>
    shop.errands.length === 0 &&
    restarts.length === 0 &&
    replicas.every(({ app }) => app !== undefined) &&
    bus.isRead() &&
    (await countLeft()) === 0;

  const get = async (path: string, headers: Record<string, string>): Promise<string> => {
    const [replica] = upOf("links-api");
    if (replica === undefined) throw new Finding("no links-api is up");
    const got: Received[] = [];
    void call(replica, false, { method: "GET", path, headers }).then((one) => got.push(one));
    await world.quiet();
    while (got.length === 0 && (await happen()));
    const [answer] = got;
    hold(answer?.status === 200, () => `${path}: ${answer?.status} ${answer?.text}`);
    return answer.text;
  };

  const holdAll = async (): Promise<void> => {
    const { rows } = await admin.query<{ hash: string }>(
      `SELECT transaction_hash AS hash FROM settlement_listener.chain_transfers
       WHERE nonce IS NULL AND is_orphaned`,
    );
    for (const { hash } of rows) model.hasNoNonce(hash);
    await holdLinks({ isReadAgain: false });
    await holdDeposits({ isReadAgain: false });
    // Whoever leaves out logs for good would do so again; out of a block of Bitcoin nobody can.
    const mayLack = isBitcoin ? model.mayLackAny() : model.deposits.mayLackAny() && !hasHabit;
    if (!mayLack) return;
    world.count("all is read again");
    const body = { chainId, fromBlock: 0, toBlock: chain.ofDepth(finalDepth).slot };
    const path = "/internal/settlement/rescan";
    shop.order("settlement-listener", { what: "rescan", path, body });
    // On Solana what is final is the newest block that was kept, which may be below.
    await beCalm(isQuiet);
    await beCalm(hasPassed(restMs));
    await holdLinks({ isReadAgain: true });
    await holdDeposits({ isReadAgain: true });
  };

  const holdLinks = async ({ isReadAgain }: { isReadAgain: boolean }): Promise<void> => {
    const listed = new Map<number, ShownPayment[]>();
    for (const order of model.orders) {
      const cookie = shop.cookieOf(order.account);
      const path = `/console/api/payment-links/${order.linkId}`;
      const shown = JSON.parse(await get(`/v1/payment-link/${order.linkId}`, {})) as ShownLink;
      const list = JSON.parse(await get(path, cookie)) as { payments: ShownPayment[] };
      model.holdLink(order, shown, list.payments, { isReadAgain, now: world.now() });
      listed.set(order.account, [...(listed.get(order.account) ?? []), ...list.payments]);
    }
    for (const [account, payments] of listed) {
      const overview = await get("/console/api/overview?days=7", shop.cookieOf(account));
      model.holdOverview(JSON.parse(overview) as ShownOverview, payments);
    }
  };

  const holdDeposits = async (pass: { isReadAgain: boolean }): Promise<void> => {
    for (let account = 0; account < shop.accountCount; account += 1) {
      const shown: ShownDeposit[] = [];
      for (const decision of depositDecisions) {
        for (let offset: number | null = 0; offset !== null;) {
          const path = `/console/api/deposits?decision=${decision}&offset=${offset}`;
          const page = JSON.parse(await get(path, shop.cookieOf(account))) as {
            data: ShownDeposit[];
            nextOffset: number | null;
          };
          shown.push(...page.data);
          offset = page.nextOffset;
        }
      }
      model.deposits.listed(account, shown);
      model.deposits.holdLists(account, shown, pass);
    }
  };

  const hasPassed = (ms: number) => {
    const untilMs = world.nowMs() + ms;
    return async () => world.nowMs() > untilMs && isAtRest();
  };

  /** On Tron what was taken away has failed once it has expired: a day after a block that held it. */
  const letDayPass = async (): Promise<void> => {
    world.advance(dayMs);
    world.say("a day has passed");
    await mineOn(1);
  };

  const mineOn = async (blockCount: number): Promise<void> => {
    for (let mined = 0; mined < blockCount + finalDepth; mined += 1) chain.mine();
    lastBlockMs = world.nowMs();
    world.say(`many blocks, up to ${chain.tip().number}`);
    await beCalm(isQuiet);
  };

  const play = async (): Promise<void> => {
    for (const name of serviceNames) {
      for (let one = 0; one < replicasOf[name]; one += 1) startOne(name);
    }
    shop.registerAll();
    await world.quiet();
    await beCalm(isQuiet);
    hasBegun = true;
    world.say("wild");
    bus.setLag(mood.lag);
    if (hasHabit) changeManners();
    await beWild();
    world.say("calm");
    bus.setAway(false);
    bus.setLag(0);
    if (isBitcoin) await beMild();
    // What one leaves out for good the others make good, where there are others.
    const honest = hasHabit ? providers.slice(1) : providers;
    for (const provider of honest) provider.manner = { kind: "honest" };
    shop.becomeCalm();
    await beCalm(isQuiet);
    if (kind === tron) await letDayPass();
    if (kind === solana) {
      await mineOn(livesForBlocks);
      // What is final moves to the newest block that was kept, which was the tip.
      await mineOn(1);
    }
    // Who spent an output long ago is looked for a few blocks further back at each final block, by each
    // process that leads meanwhile.
    const turnsOfOne = 2 + chain.tip().number / lookedThroughBlocks;
    const turnsMax = isBitcoin ? replicasOf["settlement-listener"] * turnsOfOne : 0;
    for (let turn = 0; turn < turnsMax && model.lacksFailures(); turn += 1) {
      await mineOn(1);
    }
    shop.lookAtAllDeposits();
    await beCalm(isAtRest);
    await holdAll();
    world.count("orders", model.orders.length);
    world.count("payments", model.payments.length);
  };

  await wipe(admin);
  postgresSeam.lookout = lookout;
  world.findWaitingBy(postgresSeam.findWaiting);
  enter({
    world,
    strangers: {
      receive: shop.receive,
      ask: (host, body) => {
        const provider = providers.find((one) => one.host === host);
        if (provider === undefined) throw new Finding(`${host} is asked`);
        return answerAsNode({ chain, kind, world }, provider, body);
      },
    },
  });
  let finding: string | undefined;
  try {
    await play();
  } catch (error) {
    finding = error instanceof Finding ? error.message : String((error as Error).stack);
  }
  for (const { owner } of replicas.slice()) await kill(owner);
  enter(undefined);
  return {
    seed,
    steps: world.steps(),
    digest: world.digest(),
    counts: world.counts(),
    finding,
    lines: world.lines(),
    logLines,
  };
};
