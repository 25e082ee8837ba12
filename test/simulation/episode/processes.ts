import { type InjectedResponse, type InjectedRequest, injectRequest } from "../inject-request.ts";
import { postgresSeam } from "../postgres-seam.ts";
import {
  type Replica,
  type ServiceName,
  type ReplicaContext,
  serviceNames,
  startReplica,
} from "../replica.ts";
import { type SimProcess, runAs } from "../simulated-world.ts";

export const replicaCounts: Readonly<Record<ServiceName, number>> = {
  "links-api": 2,
  "settlement-listener": 2,
  "webhook-dispatcher": 2,
};

/** The processes of an episode that are running or scheduled to restart. */
export type Processes = {
  replicaContext: ReplicaContext;
  replicas: Replica[];
  restarts: { name: ServiceName; atMs: number }[];
  /** Callbacks of pending calls. They run when a process is killed. */
  deathListeners: Map<SimProcess, (() => void)[]>;
  startedCount: number;
};

export const createProcesses = (replicaContext: ReplicaContext): Processes => ({
  replicaContext,
  replicas: [],
  restarts: [],
  deathListeners: new Map(),
  startedCount: 0,
});

const startProcess = (processes: Processes, name: ServiceName): void => {
  processes.startedCount += 1;
  processes.replicas.push(startReplica(processes.replicaContext, name, processes.startedCount));
};

export const startAll = (processes: Processes): void => {
  for (const name of serviceNames) {
    for (let replicaNumber = 0; replicaNumber < replicaCounts[name]; replicaNumber += 1)
      startProcess(processes, name);
  }
};

/** Kills a process in the middle of its work, and schedules its restart. */
export const killProcess = async (processes: Processes, simProcess: SimProcess): Promise<void> => {
  const { deathListeners, replicas, restarts, replicaContext } = processes;
  const { bus, world } = replicaContext;
  const replica = replicas.find((candidate) => candidate.simProcess === simProcess);
  if (replica === undefined) return;
  replicas.splice(replicas.indexOf(replica), 1);
  simProcess.isDead = true;
  world.cancelPending(simProcess);
  bus.removeProcess(simProcess);
  await postgresSeam.terminateSessions(simProcess);
  deathListeners.get(simProcess)?.forEach((notifyDeath) => notifyDeath());
  deathListeners.delete(simProcess);
  world.count(`crash of ${replica.name}`);
  restarts.push({ name: replica.name, atMs: world.nowMs() + 200 + world.random.below(8_000) });
};

export const killService = async (processes: Processes, name: ServiceName): Promise<void> => {
  for (const { simProcess } of processes.replicas.filter((replica) => replica.name === name)) {
    await killProcess(processes, simProcess);
  }
};

/** Starts the processes whose restart is due. Reschedules the processes that fail to start. */
export const restartDueProcesses = (processes: Processes): void => {
  const { replicas, restarts, replicaContext } = processes;
  const nowMs = replicaContext.world.nowMs();
  for (const replica of replicas.filter((candidate) => candidate.hasFailed)) {
    replicas.splice(replicas.indexOf(replica), 1);
    restarts.push({ name: replica.name, atMs: nowMs + 1_000 });
  }
  for (const restart of restarts.filter(({ atMs }) => atMs <= nowMs)) {
    restarts.splice(restarts.indexOf(restart), 1);
    startProcess(processes, restart.name);
  }
};

/** Returns the running processes of a service. */
export const listRunningReplicas = (
  { replicas }: Processes,
  name: ServiceName,
): readonly Replica[] =>
  replicas.filter((replica) => replica.name === name && replica.app !== undefined);

/** Sends a request to a process. The call also ends when the process is killed. */
export const callReplica = (
  { deathListeners }: Processes,
  replica: Replica,
  { isInternal, request }: { isInternal: boolean; request: InjectedRequest },
): Promise<InjectedResponse> => {
  const app = isInternal ? replica.internalApp : replica.app;
  if (app === undefined) return Promise.resolve({ status: 503, text: "not started" });
  const { promise: deathResponse, resolve } = Promise.withResolvers<InjectedResponse>();
  const listeners = deathListeners.get(replica.simProcess) ?? [];
  deathListeners.set(replica.simProcess, listeners);
  listeners.push(() => resolve({ status: 599, text: "the process died" }));
  const response = runAs(replica.simProcess, () => injectRequest(app, request));
  return Promise.race([response, deathResponse]);
};
