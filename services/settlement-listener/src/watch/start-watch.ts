import { type Loop, startLoop } from "@payment-links/runtime";
import {
  type ProviderVerdicts,
  isFault,
  listFaults,
  mayStart,
  providerName,
} from "../domain/judge-providers.ts";
import {
  CheckpointMovedError,
  type Lead,
  LeadLostError,
  type WatchReport,
  readProgress,
} from "../store/watchers.ts";
import { type DutyName, dutyNames } from "./chain/duty-names.ts";
import { ChainMovedError, type WatchContext } from "./chain/watch-context.ts";
import { forgetDisposable } from "./first-pass/forget-disposable.ts";
import { stepChain } from "./first-pass/step-chain.ts";
import { createUnprovedPointers } from "./first-pass/unproved-pointers.ts";
import { tellAgesOfStored } from "./first-pass/tell-ages.ts";
import { quorumOf } from "./agreement/agree.ts";
import { checkProviders } from "./agreement/check-providers.ts";
import { type Lease, type Share, startLease } from "./lease.ts";
import { ChainUnreachableError } from "./chain-reader.ts";
import { type DutyMemory, duties, noMemory } from "./second-pass/duties.ts";

/** A chain that this process watches, or would if it led. */
export type RunningWatch = {
  chainId: string;
  providerCount: number;
  isLeader: () => boolean;
  /** What this process last saw of the chain, where it leads. */
  report: () => WatchReport;
  /** Lets the steps under way end, and gives the lead up. */
  stop: () => Promise<void>;
};

/** What the loops of one chain share, and what is lost with the process without harm. */
type WatchState = {
  report: WatchReport;
  /** The lead under which the chain was found to be what the catalogue says. */
  checkedToken: string | undefined;
  /** What the check found of each provider under that lead. */
  verdicts: ProviderVerdicts;
  /** Before this, by the clock's `elapsedMs`, a chain that was found to be another is not checked again. */
  checkRestsUntilMs: number;
  /**
   * The last final block, as the first pass saw it under this lead; undefined before that, and while
   * the chain is halted.
   */
  finalizedTo: number | undefined;
  memory: DutyMemory;
  /** Whether the chain was halted when it was last looked at, which stands in its own row. */
  isHalted: boolean;
  /** Whether two providers, where there are two, agreed in the last step. */
  isAgreed: boolean;
  /** How many turns in a row met answers that do not fit together. */
  movedCount: number;
  /** The loops whose last turn found nobody who answers. */
  cutOff: Set<LoopName>;
  isStopping: boolean;
};

type LoopName = "watch" | DutyName;

const checkAgainMs = 10_000;
const dutyEveryMs = 2_000;

const createState = (): WatchState => ({
  report: { state: "unreachable", reason: null, head: null },
  checkedToken: undefined,
  verdicts: new Map(),
  checkRestsUntilMs: 0,
  finalizedTo: undefined,
  memory: noMemory(),
  isHalted: false,
  isAgreed: true,
  movedCount: 0,
  cutOff: new Set(),
  isStopping: false,
});

/** Starts watching one chain, in whichever process leads it. */
export const startWatch = (given: Omit<WatchContext, "unproved">, share: Share): RunningWatch => {
  const { chain, clock, log, metrics, pool } = given;
  const unproved = createUnprovedPointers({ chainId: chain.id, clock, log });
  const watch: WatchContext = { ...given, unproved };
  const state = createState();

  const lease = startLease({
    chainId: chain.id,
    pool,
    clock,
    log,
    share,
    report: () => state.report,
    onChange: (isLeader) => {
      state.checkedToken = undefined;
      state.verdicts = new Map();
      watch.ignore([]);
      state.checkRestsUntilMs = 0;
      state.finalizedTo = undefined;
      state.memory = noMemory();
      if (!isLeader) metrics.left(chain.id);
      watching.wake();
    },
  });

  const watching: Loop = startLoop({
    name: `watch of chain ${chain.id}`,
    clock,
    log,
    waitMs: chain.settings.pollMs,
    run: () =>
      underLead(watch, lease, (lead) =>
        heedOutage(watch, state, "watch", () => watchOnce(watch, lead, state)),
      ),
  });

  const checking = startLoop({
    name: `check of the providers of chain ${chain.id}`,
    clock,
    log,
    waitMs: checkAgainMs,
    run: () => underLead(watch, lease, (lead) => checkAgain(watch, lead, state)),
  });

  const passing = dutyNames.map((duty) =>
    startLoop({
      name: `duty to ${duty} of chain ${chain.id}`,
      clock,
      log,
      waitMs: dutyEveryMs,
      run: () =>
        underLead(watch, lease, (lead) =>
          heedOutage(watch, state, duty, () => runDuty(watch, lead, { duty, state })),
        ),
    }),
  );

  return {
    chainId: chain.id,
    providerCount: watch.witnesses.length,
    isLeader: () => lease.lead() !== undefined,
    report: () => state.report,
    stop: async () => {
      state.isStopping = true;
      await Promise.all([watching, checking, ...passing].map((loop) => loop.stop()));
      await lease.stop();
    },
  };
};

const watchOnce = async (
  watch: WatchContext,
  lead: Lead,
  state: WatchState,
): Promise<boolean | Date> => {
  const { chain, metrics } = watch;
  try {
    if (watch.clock.elapsedMs() < state.checkRestsUntilMs) return false;
    if (!(await check(watch, lead, state))) {
      state.checkRestsUntilMs = watch.clock.elapsedMs() + checkAgainMs;
      return false;
    }
    const step = await stepChain(watch, lead);
    const { head } = step;
    state.movedCount = 0;
    watch.unproved.clear();
    state.finalizedTo = step.finalizedTo;
    // A watch that begins anew, as after a halt, may begin below what was done before.
    if (step.finalizedTo === undefined) state.memory = noMemory();
    state.isHalted = step.state === "halted";
    // Why it is halted stands in the chain's own row.
    if (step.state === "halted") setReport(watch, state, state.report);
    else if (step.state === "behind") {
      const reason = "the node has not come to the last final block";
      setReport(watch, state, { state: "unreachable", reason, head });
      await tellAgesOfStored(watch);
    } else {
      const reason = heedAgreement(watch, state, step.voiceCount) ?? describeIgnored(state);
      setReport(watch, state, { state: step.state, reason, head });
    }
    return step.hasMore;
  } catch (error) {
    const hasMoved = error instanceof ChainMovedError;
    const isUnreachable = error instanceof ChainUnreachableError;
    if (hasMoved) heedMoving(watch, state);
    if (isUnreachable) {
      metrics.agreed(chain.id, { agreeingCount: 0, count: watch.witnesses.length });
      setReport(watch, state, { ...state.report, state: "unreachable", reason: error.message });
    }
    if (hasMoved || isUnreachable) await tellAgesOfStored(watch);
    throw error;
  }
};

/** Tells once that nothing settles for want of a second provider; answers why, for the status. */
const heedAgreement = (
  { chain, log, metrics, witnesses }: WatchContext,
  state: WatchState,
  agreeingCount: number | undefined,
): string | null => {
  if (agreeingCount === undefined) return null;
  metrics.agreed(chain.id, { agreeingCount, count: witnesses.length });
  const isAgreed = agreeingCount >= quorumOf(witnesses);
  if (isAgreed !== state.isAgreed) {
    const line = { chain: chain.id, agreeing: agreeingCount };
    if (isAgreed) log.info(line, "providers of a chain agree again");
    else log.error(line, "no second provider agrees with the first; nothing settles on the chain");
    state.isAgreed = isAgreed;
  }
  return isAgreed ? null : "no second provider agrees with the first: nothing settles";
};

const movedCountMax = 5;

/** A chain that moves is read again; one that never stands still may be a provider that is wrong. */
const heedMoving = ({ chain, demote, log, witnesses }: WatchContext, state: WatchState): void => {
  state.movedCount += 1;
  if (witnesses.length === 1 || state.movedCount < movedCountMax) return;
  state.movedCount = 0;
  demote();
  log.warn({ chain: chain.id }, "a provider's answers do not fit together; another is asked first");
};

/** Takes a turn at a duty, once the first pass has said how far final blocks go. */
const runDuty = async (
  watch: WatchContext,
  lead: Lead,
  { duty, state: { finalizedTo, memory } }: { duty: DutyName; state: WatchState },
): Promise<boolean> => {
  const { chain, metrics } = watch;
  if (finalizedTo === undefined) return false;
  try {
    const isMore = await duties[duty]({ watch, lead, finalizedTo, memory });
    if (isMore !== undefined) metrics.dutyEnded(chain.id, duty, { isFailing: false });
    return isMore ?? false;
  } catch (error) {
    if (!isPassing(error)) metrics.dutyEnded(chain.id, duty, { isFailing: true });
    throw error;
  }
};

/**
 * Tells once that nobody answers, and once that somebody does again; between them it is tried on.
 */
const heedOutage = async (
  { chain, log }: WatchContext,
  state: WatchState,
  loop: LoopName,
  work: () => Promise<boolean | Date>,
): Promise<boolean | Date> => {
  try {
    const next = await work();
    if (state.cutOff.delete(loop)) log.info({ chain: chain.id, loop }, "a chain answers again");
    return next;
  } catch (error) {
    if (!(error instanceof ChainUnreachableError)) throw error;
    // The readers are closed while a step may be under way.
    if (state.isStopping || state.cutOff.has(loop)) return false;
    state.cutOff.add(loop);
    log.error({ err: error, chain: chain.id, loop }, "a chain cannot be read; it is tried on");
    return false;
  }
};

/**
 * Checks a chain once under each lead. It starts when a quorum of its providers agrees with the catalogue
 * (rule CHAIN-30); otherwise it is checked again after a while.
 */
const check = async (watch: WatchContext, lead: Lead, state: WatchState): Promise<boolean> => {
  const { chain, log, pool, witnesses } = watch;
  if (state.checkedToken === lead.token) return true;
  // Before anybody is asked, who may be away.
  state.isHalted = (await readProgress(pool, chain.id)).haltedReason !== null;
  const verdicts = await checkProviders(
    watch,
    witnesses.map(({ id }) => id),
  );
  if (!mayStart(verdicts, quorumOf(witnesses))) {
    const reason = describeFaults(verdicts);
    if (state.report.reason !== reason) {
      const line = { chain: chain.id, fault: reason };
      log.error(line, "the chain is not what the catalogue says; it is not watched");
    }
    setReport(watch, state, { state: "refused", reason, head: null });
    return false;
  }
  useVerdicts(watch, state, verdicts);
  await forgetDisposable(watch, lead);
  state.checkedToken = lead.token;
  return true;
};

/** Checks the providers again that did not agree with the catalogue, or did not answer. */
const checkAgain = async (watch: WatchContext, lead: Lead, state: WatchState): Promise<boolean> => {
  if (state.checkedToken !== lead.token) return false;
  const open = [...state.verdicts].filter(([, verdict]) => verdict !== "agrees");
  if (open.length === 0) return false;
  const found = await checkProviders(
    watch,
    open.map(([id]) => id),
  ).catch(noVerdicts);
  if (state.checkedToken !== lead.token) return false;
  const verdicts = [...state.verdicts].map(([id, verdict]) => {
    const now = found.get(id) ?? "unknown";
    // A provider that differed stays ignored until it agrees.
    return [id, now === "unknown" ? verdict : now] as const;
  });
  useVerdicts(watch, state, new Map(verdicts));
  return false;
};

const noVerdicts = (error: unknown): ProviderVerdicts => {
  if (error instanceof ChainUnreachableError) return new Map();
  throw error;
};

/** Ignores the providers that differ from the catalogue, and logs what has changed. */
const useVerdicts = (
  { chain, ignore, log, metrics }: WatchContext,
  state: WatchState,
  verdicts: ProviderVerdicts,
): void => {
  for (const [index, [id, verdict]] of [...verdicts].entries()) {
    const before = state.verdicts.get(id);
    const line = { chain: chain.id, provider: providerName(index) };
    if (isFault(verdict)) {
      if (!isFault(before) || before.fault !== verdict.fault) {
        log.error({ ...line, ...verdict }, "a provider differs from the catalogue; it is ignored");
      }
    } else if (isFault(before)) log.info(line, "a provider agrees with the catalogue again");
    metrics.ignored({ ...line, isIgnored: isFault(verdict) });
  }
  state.verdicts = verdicts;
  ignore([...verdicts].flatMap(([id, verdict]) => (isFault(verdict) ? [id] : [])));
};

/** Returns why a chain does not start. A lone provider needs no name. */
const describeFaults = (verdicts: ProviderVerdicts): string =>
  listFaults(verdicts)
    .map(({ fault, provider }) => (verdicts.size === 1 ? fault : `${provider}: ${fault}`))
    .join("; ");

const describeIgnored = ({ verdicts }: WatchState): string | null => {
  const ignored = listFaults(verdicts).map(
    ({ fault, provider }) => `${provider} is ignored: ${fault}`,
  );
  return ignored.length === 0 ? null : ignored.join("; ");
};

const setReport = (
  { chain, metrics }: WatchContext,
  state: WatchState,
  report: WatchReport,
): void => {
  state.report = report;
  const isRefused = report.state === "refused";
  metrics.stopped(chain.id, { isHalted: state.isHalted, isRefused });
};

/**
 * Runs work while this process leads; a lead that is lost in it ends it without an error. What it still told
 * by gauges then is another's to tell.
 */
const underLead = async (
  { chain, metrics }: WatchContext,
  lease: Lease,
  work: (lead: Lead) => Promise<boolean | Date>,
): Promise<boolean | Date | void> => {
  const lead = lease.lead();
  if (lead === undefined) return;
  try {
    return await work(lead);
  } catch (error) {
    if (error instanceof LeadLostError) return lease.lose(lead);
    if (!isPassing(error)) throw error;
  } finally {
    if (lease.lead()?.token !== lead.token) metrics.left(chain.id);
  }
};

/** What moves while it is read is nothing to tell: it is read again at the next turn. */
const isPassing = (error: unknown): boolean =>
  error instanceof ChainMovedError ||
  error instanceof CheckpointMovedError ||
  error instanceof LeadLostError;
