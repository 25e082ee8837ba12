import { postgresSeam } from "../postgres-seam.ts";
import type { PendingRequest } from "../shop/pending-requests.ts";
import type { PendingAction, CrashPoint } from "../simulated-world.ts";
import type { Episode } from "./episode.ts";
import { callReplica, killProcess, restartDueProcesses, listRunningReplicas } from "./processes.ts";

const requestRetryMsMax = 1_500;

/** Runs a random step. Returns false if nothing can run. */
export const runNextStep = async (episode: Episode): Promise<boolean> => {
  const { bus, processes, world } = episode;
  throwFailure(episode);
  if (episode.shouldStop()) throw new Error("the run was stopped");
  restartDueProcesses(processes);
  const deliverableBatches = bus.listDeliverableBatches();
  const sendableRequests = listSendableRequests(episode);
  const readyCount = world.countRunnable();
  const total = readyCount + deliverableBatches.length + sendableRequests.length;
  if (total === 0) return false;
  const chosenIndex = world.random.below(total);
  const deliverableBatch = deliverableBatches[chosenIndex - readyCount];
  const pendingRequest = sendableRequests[chosenIndex - readyCount - deliverableBatches.length];
  if (chosenIndex < readyCount) {
    await world.runStep(
      (action) => chooseCrashPoint(episode, action),
      (simProcess) => killProcess(processes, simProcess),
    );
  } else if (deliverableBatch !== undefined) {
    world.trace(deliverableBatch.description);
    deliverableBatch.deliver();
    await world.waitUntilIdle();
  } else if (pendingRequest !== undefined) {
    sendPendingRequest(episode, pendingRequest);
    await world.waitUntilIdle();
  }
  throwFailure(episode);
  return true;
};

const throwFailure = ({ failure }: Episode): void => {
  if (failure !== undefined) throw failure;
};

/**
 * Returns the requests that can be sent now. Some of them are sent again while they are still in
 * flight.
 */
const listSendableRequests = ({
  isInjectingFaults,
  processes,
  shop,
  world,
}: Episode): readonly PendingRequest[] =>
  shop.pendingRequests.filter(
    (pendingRequest) =>
      listRunningReplicas(processes, pendingRequest.service).length > 0 &&
      pendingRequest.notBeforeMs <= world.nowMs() &&
      (pendingRequest.inFlightCount === 0 ||
        (isInjectingFaults && pendingRequest.inFlightCount < 2 && world.random.chance(0.02))),
  );

const chooseCrashPoint = (
  { isInjectingFaults, faultProfile, world }: Episode,
  action: PendingAction,
): CrashPoint => {
  if (!isInjectingFaults || action.crashPoints.length === 0) return "pass";
  if (action.crashPoints.includes("late") && world.random.chance(faultProfile.lateCommitChance))
    return "late";
  const faultChance =
    action.kind === "sql" ? faultProfile.statementFaultChance : faultProfile.callFaultChance;
  return world.random.chance(faultChance) ? world.random.pick(action.crashPoints) : "pass";
};

const sendPendingRequest = (episode: Episode, pendingRequest: PendingRequest): void => {
  const { processes, shop, world } = episode;
  const replica = world.random.pick(listRunningReplicas(processes, pendingRequest.service));
  pendingRequest.inFlightCount += 1;
  world.trace(`request ${pendingRequest.description} to ${replica.simProcess.name}`);
  callReplica(processes, replica, {
    isInternal: pendingRequest.isInternal === true,
    request: pendingRequest.createRequest(),
  })
    .then((response) => {
      pendingRequest.inFlightCount -= 1;
      world.trace(`request ${pendingRequest.description}: ${response.status}`);
      if (!shop.pendingRequests.includes(pendingRequest)) return;
      pendingRequest.notBeforeMs = world.nowMs() + 100 + world.random.below(requestRetryMsMax);
      if (pendingRequest.handleResponse(response))
        shop.pendingRequests.splice(shop.pendingRequests.indexOf(pendingRequest), 1);
    })
    .catch((error: unknown) => {
      episode.failure ??= error;
    });
};

/** Advances the clock until something can run, plus a random duration. */
export const advanceToNextEvent = (
  { processes, shop, world }: Episode,
  extraMsMax: number,
): void => {
  const nextEventMs = Math.min(
    world.nextTimerMs() ?? Infinity,
    ...processes.restarts.map(({ atMs }) => atMs),
    ...shop.pendingRequests.map(({ notBeforeMs }) => Math.max(notBeforeMs, world.nowMs() + 1)),
  );
  // Statements that wait for the locks of a late commit must not time out before the commit
  // releases them.
  const extraMs = postgresSeam.hasLateCommit() ? 0 : world.random.below(extraMsMax);
  const byMs = Math.max(0, nextEventMs - world.nowMs()) + extraMs;
  world.advance(Number.isFinite(byMs) ? byMs : 1_000);
};
