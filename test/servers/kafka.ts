import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { testKafkaPassword } from "@payment-links/bus/testing";
import { bringJavaAndMaven } from "./bring-java.ts";
import { runServer, startOnFreePorts } from "./child-server.ts";
import type { RunningServer, ServerContext, StartServer } from "./child-server.ts";
import { fetchWithMaven, isInMavenCache } from "./maven-cache.ts";
import { hasDocker, hasJava, hasMaven, whatToInstall } from "./programs.ts";

const run = promisify(execFile);

const image = "apache/kafka:4.4.0";
const pullMsMax = 300_000;
const formatMsMax = 60_000;
const ready = { readyText: "Kafka Server started", readyMsMax: 300_000 } as const;

type Ports = {
  readonly port: number;
  readonly saslPort: number;
  readonly controllerPort: number;
};
const loopback = "127.0.0.1";

/** The way this machine can run a broker: jars on its own Java, or a container. */
export const findKafka = async (): Promise<StartServer> => {
  if ((await hasJava()) && ((await isInMavenCache("kafka")) || (await hasMaven()))) {
    return startFromJars;
  }
  if (await hasDocker()) return startContainer;
  if (await bringJavaAndMaven()) return startFromJars;
  throw new Error(whatToInstall);
};

const startFromJars: StartServer = async (context) => {
  const { directory, host = loopback } = context;
  const jars = join(await fetchWithMaven("kafka", context), "*");
  await mkdir(directory);
  const file = join(directory, "server.properties");
  const logging = `-Dlog4j2.configurationFile=${join(import.meta.dirname, "log4j2.xml")}`;
  // A broker for tests lives for minutes: the second compiler would cost more than it earns.
  const java = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", logging, "-cp", jars];
  // An id that begins with a hyphen would be read as an option.
  const clusterId = `t${randomBytes(15).toString("base64url")}A`;
  const format = ["kafka.tools.StorageTool", "format", "-t", clusterId, "-c", file];

  return await startOnPorts(host, async (ports) => {
    const lines = Object.entries({
      ...properties(host, ports),
      "log.dirs": join(directory, "data"),
    });
    await writeFile(file, lines.map(([name, value]) => `${name}=${value}\n`).join(""));
    await run("java", ["-Xmx128m", ...java, ...format, "--ignore-formatted"], {
      timeout: formatMsMax,
    });
    const args = ["-Xms64m", "-Xmx256m", ...java, "kafka.Kafka", file];
    return await runServer({ name: "Kafka", command: "java", args, ...ready }, context);
  });
};

// `docker run` in the foreground stands for its container: it passes SIGTERM on and ends with it.
const startContainer: StartServer = async (context) => {
  await mkdir(context.directory);
  await pullImage(context);
  return await startOnPorts(loopback, async (ports) => {
    const { port, saslPort, controllerPort } = ports;
    const variables = Object.entries({
      ...properties(loopback, ports),
      listeners: listenersOf("0.0.0.0", ports, `127.0.0.1:${controllerPort}`),
      "log.dirs": "/tmp/kafka-data",
    }).flatMap(([name, value]) => [
      "--env",
      `KAFKA_${name.toUpperCase().replaceAll("_", "__").replaceAll(".", "_")}=${value}`,
    ]);
    const published = [port, saslPort].flatMap((one) => ["--publish", `127.0.0.1:${one}:${one}`]);
    const args = ["run", "--rm", ...published, ...variables, image];
    return await runServer({ name: "Kafka", command: "docker", args, ...ready }, context);
  });
};

const pullImage = async ({ report, signal }: ServerContext): Promise<void> => {
  report(`fetching the image ${image} with Docker`);
  await run("docker", ["pull", "--quiet", image], { timeout: pullMsMax, signal });
};

const startOnPorts = (
  host: string,
  start: (ports: Ports) => Promise<Omit<RunningServer, "url" | "more">>,
) =>
  startOnFreePorts(3, async ([port = 0, saslPort = 0, controllerPort = 0]) => ({
    ...(await start({ port, saslPort, controllerPort })),
    url: `${host}:${port}`,
    more: { KAFKA_SASL_BROKERS: `${host}:${saslPort}` },
  }));

const listenersOf = (host: string, { port, saslPort }: Ports, controller: string): string =>
  `PLAINTEXT://${host}:${port},SASL_PLAINTEXT://${host}:${saslPort},CONTROLLER://${controller}`;

/** Two for each service, so that one can take the other's place. */
const users = ["auth-keys", "links-api", "settlement-listener", "webhook-dispatcher"]
  .flatMap((service) => [service, `${service}-next`])
  .map((name) => `user_${name}="${testKafkaPassword(name)}"`);

/**
 * One node that is broker and controller, small enough for a machine with two processors. Whoever
 * gives no name may do everything; of the users each only what is granted to it.
 */
const properties = (host: string, ports: Ports): Readonly<Record<string, string>> => ({
  "process.roles": "broker,controller",
  "node.id": "1",
  "controller.quorum.voters": `1@127.0.0.1:${ports.controllerPort}`,
  listeners: listenersOf(host, ports, `127.0.0.1:${ports.controllerPort}`),
  "advertised.listeners": `PLAINTEXT://${host}:${ports.port},SASL_PLAINTEXT://${host}:${ports.saslPort}`,
  "controller.listener.names": "CONTROLLER",
  "inter.broker.listener.name": "PLAINTEXT",
  "listener.security.protocol.map":
    "PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
  "sasl.enabled.mechanisms": "PLAIN",
  "listener.name.sasl_plaintext.plain.sasl.jaas.config": `org.apache.kafka.common.security.plain.PlainLoginModule required ${users.join(" ")};`,
  "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
  "super.users": "User:ANONYMOUS",
  "num.network.threads": "2",
  "num.io.threads": "2",
  "offsets.topic.num.partitions": "5",
  "offsets.topic.replication.factor": "1",
  "transaction.state.log.num.partitions": "5",
  "transaction.state.log.replication.factor": "1",
  "transaction.state.log.min.isr": "1",
  "share.coordinator.state.topic.replication.factor": "1",
  "share.coordinator.state.topic.min.isr": "1",
  // As in production: using a topic that nobody created is a mistake that must show.
  "auto.create.topics.enable": "false",
  "group.initial.rebalance.delay.ms": "0",
  "broker.session.timeout.ms": "3000",
  "broker.heartbeat.interval.ms": "500",
  "log.cleaner.dedupe.buffer.size": "16777216",
  "log.segment.bytes": "67108864",
});
