import { type Received, type Sent, injectRequest } from "../inject-request.ts";
import { postgresSeam } from "../postgres-seam.ts";
import {
  type Replica,
  type ServiceName,
  type Stage,
  serviceNames,
  startReplica,
} from "../replica.ts";
import { type Owner, runAs } from "../world.ts";

export const replicasOf: Readonly<Record<ServiceName, number>> = {
  "links-api": 2,
  "settlement-listener": 2,
  "webhook-dispatcher": 2,
};

/** The processes of an episode: those that run, and those that are to run again. */
export type Processes = {
  stage: Stage;
  replicas: Replica[];
  restarts: { name: ServiceName; atMs: number }[];
  /** Who waits for an answer, and is to hear of a process' death. */
  deaths: Map<Owner, (() => void)[]>;
  startedCount: number;
};

export const openProcesses = (stage: Stage): Processes => ({
  stage,
  replicas: [],
  restarts: [],
  deaths: new Map(),
  startedCount: 0,
});

const start = (processes: Processes, name: ServiceName): void => {
  processes.startedCount += 1;
  processes.replicas.push(startReplica(processes.stage, name, processes.startedCount));
};

export const startAll = (processes: Processes): void => {
  for (const name of serviceNames) {
    for (let one = 0; one < replicasOf[name]; one += 1) start(processes, name);
  }
};

/** Ends a process in the middle of whatever it does; it runs again a while later. */
export const kill = async (processes: Processes, owner: Owner): Promise<void> => {
  const { deaths, replicas, restarts, stage } = processes;
  const { bus, world } = stage;
  const replica = replicas.find((one) => one.owner === owner);
  if (replica === undefined) return;
  replicas.splice(replicas.indexOf(replica), 1);
  owner.isDead = true;
  world.forget(owner);
  bus.drop(owner);
  await postgresSeam.cut(owner);
  deaths.get(owner)?.forEach((tell) => tell());
  deaths.delete(owner);
  world.count(`crash of ${replica.name}`);
  restarts.push({ name: replica.name, atMs: world.nowMs() + 200 + world.random.below(8_000) });
};

/** Ends all processes of a service. */
export const killAll = async (processes: Processes, name: ServiceName): Promise<void> => {
  for (const { owner } of processes.replicas.filter((one) => one.name === name)) {
    await kill(processes, owner);
  }
};

/** Starts what has been away for long enough, and gives up what could not start. */
export const restartDue = (processes: Processes): void => {
  const { replicas, restarts, stage } = processes;
  const nowMs = stage.world.nowMs();
  for (const replica of replicas.filter((one) => one.hasFailed)) {
    replicas.splice(replicas.indexOf(replica), 1);
    restarts.push({ name: replica.name, atMs: nowMs + 1_000 });
  }
  for (const restart of restarts.filter(({ atMs }) => atMs <= nowMs)) {
    restarts.splice(restarts.indexOf(restart), 1);
    start(processes, restart.name);
  }
};

/** Those of a service that have started. */
export const upOf = ({ replicas }: Processes, name: ServiceName): readonly Replica[] =>
  replicas.filter((one) => one.name === name && one.app !== undefined);

/** Asks a process, whose death is an answer, too. */
export const call = (
  { deaths }: Processes,
  replica: Replica,
  { isInternal, sent }: { isInternal: boolean; sent: Sent },
): Promise<Received> => {
  const app = isInternal ? replica.internalApp : replica.app;
  if (app === undefined) return Promise.resolve({ status: 503, text: "not started" });
  const { promise: died, resolve } = Promise.withResolvers<Received>();
  const list = deaths.get(replica.owner) ?? [];
  deaths.set(replica.owner, list);
  list.push(() => resolve({ status: 599, text: "the process died" }));
  const answered = runAs(replica.owner, () => injectRequest(app, sent));
  return Promise.race([answered, died]);
};
