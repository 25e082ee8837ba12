import { formatProviderName } from "@payment-links/chains/chain-reader";
import { type Loop, startLoop } from "@payment-links/runtime";
import {
  type ProviderCheckResults,
  hasProviderFault,
  listProviderFaults,
  canStartChain,
} from "../domain/provider-checks.ts";
import {
  CheckpointMovedError,
  type Leadership,
  LeadershipLostError,
  type WatchReport,
  readProgress,
} from "../store/watchers.ts";
import { type BackgroundJobName, backgroundJobNames } from "./chain/background-job-names.ts";
import { ChainMovedError, type WatchContext } from "./chain/watch-context.ts";
import { resetDisposableChain } from "./scan/reset-disposable-chain.ts";
import { advanceChainScan } from "./scan/advance-chain-scan.ts";
import { createMissingReceiptTracker } from "./scan/missing-receipt-tracker.ts";
import { reportStoredChainLag } from "./scan/report-chain-lag.ts";
import { getQuorum } from "./agreement/reach-quorum.ts";
import { checkProviders } from "./agreement/check-providers.ts";
import { type Lease, type LeadershipQuota, startLease } from "./lease.ts";
import { ChainUnreachableError } from "@payment-links/chains/chain-reader";
import {
  type BackgroundJobState,
  backgroundJobs,
  createJobState,
} from "./audit/background-jobs.ts";

/** A chain that this process watches, or will watch if it becomes the leader. */
export type RunningWatch = {
  chainId: string;
  providerCount: number;
  isLeader: () => boolean;
  /** The last report of this process about the chain, from its time as the leader. */
  report: () => WatchReport;
  /** Waits until the steps in progress have ended, then gives up the leadership. */
  stop: () => Promise<void>;
};

/** The in-memory state that the loops of one chain share. It can be lost without harm. */
type WatchState = {
  report: WatchReport;
  /** The fencing token of the leadership that passed the catalogue check. */
  checkedToken: string | undefined;
  /** The result of the catalogue check for each provider, under that leadership. */
  checkResults: ProviderCheckResults;
  /**
   * After a failed catalogue check, the next check runs no earlier than at this time, by the
   * clock's `elapsedMs`.
   */
  checkPausedUntilMs: number;
  /**
   * The last final block that the scan saw under this leadership. Undefined before the first step,
   * and while the chain is halted.
   */
  finalizedTo: number | undefined;
  jobState: BackgroundJobState;
  /** Whether the chain was halted at the last check. The database stores the halt itself. */
  isHalted: boolean;
  /** Whether a quorum of providers agreed in the last step. */
  hasQuorum: boolean;
  /** How many consecutive scan steps found inconsistent provider responses. */
  chainMovedCount: number;
  /** The loops that could not reach any provider in their last run. */
  unreachableLoops: Set<LoopName>;
  isStopping: boolean;
};

type LoopName = "watch" | BackgroundJobName;

const recheckIntervalMs = 10_000;
const jobIntervalMs = 2_000;

const createState = (): WatchState => ({
  report: { state: "unreachable", reason: null, head: null },
  checkedToken: undefined,
  checkResults: new Map(),
  checkPausedUntilMs: 0,
  finalizedTo: undefined,
  jobState: createJobState(),
  isHalted: false,
  hasQuorum: true,
  chainMovedCount: 0,
  unreachableLoops: new Set(),
  isStopping: false,
});

/** Starts watching one chain. Only the process that is the chain's leader does the work. */
export const startWatch = (
  context: Omit<WatchContext, "missingReceipts">,
  quota: LeadershipQuota,
): RunningWatch => {
  const { chain, clock, log, metrics, pool } = context;
  const missingReceipts = createMissingReceiptTracker({ chainId: chain.id, clock, log });
  const watch: WatchContext = { ...context, missingReceipts };
  const state = createState();

  const lease = startLease({
    chainId: chain.id,
    pool,
    clock,
    log,
    quota,
    report: () => state.report,
    onChange: (isLeader) => {
      state.checkedToken = undefined;
      state.checkResults = new Map();
      watch.ignoreProviders([]);
      state.checkPausedUntilMs = 0;
      state.finalizedTo = undefined;
      state.jobState = createJobState();
      if (!isLeader) metrics.removeChain(chain.id);
      watchLoop.wake();
    },
  });

  const watchLoop: Loop = startLoop({
    name: `watch of chain ${chain.id}`,
    clock,
    log,
    waitMs: chain.settings.pollMs,
    run: () =>
      runAsLeader(watch, lease, (leadership) =>
        withOutageReporting(watch, state, "watch", () => runWatchStep(watch, leadership, state)),
      ),
  });

  const recheckLoop = startLoop({
    name: `provider check of chain ${chain.id}`,
    clock,
    log,
    waitMs: recheckIntervalMs,
    run: () =>
      runAsLeader(watch, lease, (leadership) => recheckProviders(watch, leadership, state)),
  });

  const jobLoops = backgroundJobNames.map((job) =>
    startLoop({
      name: `background job ${job} of chain ${chain.id}`,
      clock,
      log,
      waitMs: jobIntervalMs,
      run: () =>
        runAsLeader(watch, lease, (leadership) =>
          withOutageReporting(watch, state, job, () =>
            runBackgroundJob(watch, leadership, { job, state }),
          ),
        ),
    }),
  );

  return {
    chainId: chain.id,
    providerCount: watch.verifiers.length,
    isLeader: () => lease.getLeadership() !== undefined,
    report: () => state.report,
    stop: async () => {
      state.isStopping = true;
      await Promise.all([watchLoop, recheckLoop, ...jobLoops].map((loop) => loop.stop()));
      await lease.stop();
    },
  };
};

const runWatchStep = async (
  watch: WatchContext,
  leadership: Leadership,
  state: WatchState,
): Promise<boolean | Date> => {
  const { chain, metrics } = watch;
  try {
    if (watch.clock.elapsedMs() < state.checkPausedUntilMs) return false;
    if (!(await checkChain(watch, leadership, state))) {
      state.checkPausedUntilMs = watch.clock.elapsedMs() + recheckIntervalMs;
      return false;
    }
    const step = await advanceChainScan(watch, leadership);
    const { head } = step;
    state.chainMovedCount = 0;
    watch.missingReceipts.clear();
    state.finalizedTo = step.finalizedTo;
    // A restarted watch, for example after a halt, can begin below blocks that the jobs have
    // already handled.
    if (step.finalizedTo === undefined) state.jobState = createJobState();
    state.isHalted = step.state === "halted";
    // The database stores the reason.
    if (step.state === "halted") setReport(watch, state, state.report);
    else if (step.state === "behind") {
      const reason = "the node has not reached the last final block";
      setReport(watch, state, { state: "unreachable", reason, head });
      await reportStoredChainLag(watch);
    } else {
      const reason =
        reportQuorum(watch, state, step.agreeingProviderCount) ?? describeIgnored(state);
      setReport(watch, state, { state: step.state, reason, head });
    }
    return step.hasMore;
  } catch (error) {
    const hasChainMoved = error instanceof ChainMovedError;
    const isUnreachable = error instanceof ChainUnreachableError;
    if (hasChainMoved) handleMovingChain(watch, state);
    if (isUnreachable) {
      metrics.setProviderAgreement(chain.id, { agreeingCount: 0, count: watch.verifiers.length });
      setReport(watch, state, { ...state.report, state: "unreachable", reason: error.message });
    }
    if (hasChainMoved || isUnreachable) await reportStoredChainLag(watch);
    throw error;
  }
};

/**
 * Logs when the quorum is lost or restored. Returns the reason for the status, or null while there
 * is a quorum.
 */
const reportQuorum = (
  { chain, log, metrics, verifiers }: WatchContext,
  state: WatchState,
  agreeingCount: number | undefined,
): string | null => {
  if (agreeingCount === undefined) return null;
  metrics.setProviderAgreement(chain.id, { agreeingCount, count: verifiers.length });
  const hasQuorum = agreeingCount >= getQuorum(verifiers);
  if (hasQuorum !== state.hasQuorum) {
    const logFields = { chain: chain.id, agreeing: agreeingCount };
    if (hasQuorum) log.info(logFields, "providers agree again");
    else log.error(logFields, "no provider quorum, nothing settles");
    state.hasQuorum = hasQuorum;
  }
  return hasQuorum ? null : "the providers do not agree: nothing settles";
};

const chainMovedCountMax = 5;

/**
 * Counts steps in which the chain moved during the read. After several in a row, a provider is
 * probably wrong, so another one is preferred.
 */
const handleMovingChain = (
  { chain, demote, log, verifiers }: WatchContext,
  state: WatchState,
): void => {
  state.chainMovedCount += 1;
  if (verifiers.length === 1 || state.chainMovedCount < chainMovedCountMax) return;
  state.chainMovedCount = 0;
  demote();
  log.warn({ chain: chain.id }, "provider replies are inconsistent, preferring another provider");
};

/** Runs a background job. Does nothing until the scan has set the last final block. */
const runBackgroundJob = async (
  watch: WatchContext,
  leadership: Leadership,
  { job, state: { finalizedTo, jobState } }: { job: BackgroundJobName; state: WatchState },
): Promise<boolean> => {
  const { chain, metrics } = watch;
  if (finalizedTo === undefined) return false;
  try {
    const hasMore = await backgroundJobs[job]({ watch, leadership, finalizedTo, jobState });
    if (hasMore !== undefined) metrics.setJobFailing(chain.id, job, { isFailing: false });
    return hasMore ?? false;
  } catch (error) {
    if (!isTransientError(error)) metrics.setJobFailing(chain.id, job, { isFailing: true });
    throw error;
  }
};

/**
 * Runs work of a loop and keeps the loop alive if no provider answers. Logs when the chain becomes
 * unreachable and when it is reachable again.
 */
const withOutageReporting = async (
  { chain, log }: WatchContext,
  state: WatchState,
  loop: LoopName,
  work: () => Promise<boolean | Date>,
): Promise<boolean | Date> => {
  try {
    const result = await work();
    if (state.unreachableLoops.delete(loop))
      log.info({ chain: chain.id, loop }, "chain reachable again");
    return result;
  } catch (error) {
    if (!(error instanceof ChainUnreachableError)) throw error;
    // `stop` can close the readers while a step is in progress.
    if (state.isStopping || state.unreachableLoops.has(loop)) return false;
    state.unreachableLoops.add(loop);
    log.error({ err: error, chain: chain.id, loop }, "chain unreachable, retrying");
    return false;
  }
};

/**
 * Compares the chain's providers with the catalogue, once per leadership. Returns whether the chain
 * can start (rule CHAIN-30). If it cannot, the check is repeated later.
 */
const checkChain = async (
  watch: WatchContext,
  leadership: Leadership,
  state: WatchState,
): Promise<boolean> => {
  const { chain, log, pool, verifiers } = watch;
  if (state.checkedToken === leadership.token) return true;
  // The database is read before any provider, because all providers may be unreachable.
  state.isHalted = (await readProgress(pool, chain.id)).haltedReason !== null;
  const checkResults = await checkProviders(
    watch,
    verifiers.map(({ id }) => id),
  );
  if (!canStartChain(checkResults, getQuorum(verifiers))) {
    const reason = describeFaults(checkResults);
    if (state.report.reason !== reason) {
      const logFields = { chain: chain.id, fault: reason };
      log.error(logFields, "chain differs from the catalogue, not watching it");
    }
    setReport(watch, state, { state: "refused", reason, head: null });
    return false;
  }
  applyCheckResults(watch, state, checkResults);
  await resetDisposableChain(watch, leadership);
  state.checkedToken = leadership.token;
  return true;
};

/** Checks the providers again that differed from the catalogue or did not answer. */
const recheckProviders = async (
  watch: WatchContext,
  leadership: Leadership,
  state: WatchState,
): Promise<boolean> => {
  if (state.checkedToken !== leadership.token) return false;
  const pendingChecks = [...state.checkResults].filter(
    ([, checkResult]) => checkResult !== "agrees",
  );
  if (pendingChecks.length === 0) return false;
  const newResults = await checkProviders(
    watch,
    pendingChecks.map(([id]) => id),
  ).catch(toEmptyResults);
  if (state.checkedToken !== leadership.token) return false;
  const checkResults = [...state.checkResults].map(([id, checkResult]) => {
    const newResult = newResults.get(id) ?? "unknown";
    // A provider that differed stays ignored until it matches, even if it does not answer now.
    return [id, newResult === "unknown" ? checkResult : newResult] as const;
  });
  applyCheckResults(watch, state, new Map(checkResults));
  return false;
};

const toEmptyResults = (error: unknown): ProviderCheckResults => {
  if (error instanceof ChainUnreachableError) return new Map();
  throw error;
};

/** Ignores the providers that differ from the catalogue, and logs what changed. */
const applyCheckResults = (
  { chain, ignoreProviders, log, metrics }: WatchContext,
  state: WatchState,
  checkResults: ProviderCheckResults,
): void => {
  for (const [index, [id, checkResult]] of [...checkResults].entries()) {
    const previousResult = state.checkResults.get(id);
    const logFields = { chain: chain.id, provider: formatProviderName(index) };
    if (hasProviderFault(checkResult)) {
      if (!hasProviderFault(previousResult) || previousResult.fault !== checkResult.fault) {
        log.error(
          { ...logFields, ...checkResult },
          "provider differs from the catalogue, ignoring it",
        );
      }
    } else if (hasProviderFault(previousResult))
      log.info(logFields, "provider agrees with the catalogue again");
    metrics.setProviderIgnored({ ...logFields, isIgnored: hasProviderFault(checkResult) });
  }
  state.checkResults = checkResults;
  ignoreProviders(
    [...checkResults].flatMap(([id, checkResult]) => (hasProviderFault(checkResult) ? [id] : [])),
  );
};

/** Returns why a chain does not start. Omits the provider's name if there is only one. */
const describeFaults = (checkResults: ProviderCheckResults): string =>
  listProviderFaults(checkResults)
    .map(({ fault, provider }) => (checkResults.size === 1 ? fault : `${provider}: ${fault}`))
    .join("; ");

const describeIgnored = ({ checkResults }: WatchState): string | null => {
  const ignoredProviders = listProviderFaults(checkResults).map(
    ({ fault, provider }) => `${provider} is ignored: ${fault}`,
  );
  return ignoredProviders.length === 0 ? null : ignoredProviders.join("; ");
};

const setReport = (
  { chain, metrics }: WatchContext,
  state: WatchState,
  report: WatchReport,
): void => {
  state.report = report;
  const isRefused = report.state === "refused";
  metrics.setChainStopped(chain.id, { isHalted: state.isHalted, isRefused });
};

/**
 * Runs work if this process is the leader. If the leadership is lost meanwhile, the work ends
 * without an error, and the chain's gauges are removed, because the new leader reports them.
 */
const runAsLeader = async (
  { chain, metrics }: WatchContext,
  lease: Lease,
  work: (leadership: Leadership) => Promise<boolean | Date>,
): Promise<boolean | Date | void> => {
  const leadership = lease.getLeadership();
  if (leadership === undefined) return;
  try {
    return await work(leadership);
  } catch (error) {
    if (error instanceof LeadershipLostError) return lease.markLost(leadership);
    if (!isTransientError(error)) throw error;
  } finally {
    if (lease.getLeadership()?.token !== leadership.token) metrics.removeChain(chain.id);
  }
};

/**
 * Returns whether an error only means that data changed during a read. The next run reads it again,
 * so the error is not reported.
 */
const isTransientError = (error: unknown): boolean =>
  error instanceof ChainMovedError ||
  error instanceof CheckpointMovedError ||
  error instanceof LeadershipLostError;
