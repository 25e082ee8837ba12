import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { getTestKafkaPassword } from "@payment-links/bus/testing";
import { ensureJavaAndMaven } from "./ensure-java.ts";
import { runServer, startOnFreePorts } from "./child-server.ts";
import type { RunningServer, ServerContext, StartServer } from "./child-server.ts";
import { fetchWithMaven, isInMavenCache } from "./maven-cache.ts";
import { hasDocker, hasJava, hasMaven, installInstructions } from "./programs.ts";

const run = promisify(execFile);

const image = "apache/kafka:4.4.0";
const pullMsMax = 300_000;
const formatMsMax = 60_000;
const readyOptions = { readyText: "Kafka Server started", readyMsMax: 300_000 } as const;

type Ports = {
  readonly port: number;
  readonly saslPort: number;
  readonly controllerPort: number;
};
const loopback = "127.0.0.1";

/**
 * Returns the function that runs a broker on this machine, either from jars with the installed Java
 * or in a container.
 */
export const findKafka = async (): Promise<StartServer> => {
  if ((await hasJava()) && ((await isInMavenCache("kafka")) || (await hasMaven()))) {
    return startFromJars;
  }
  if (await hasDocker()) return startContainer;
  if (await ensureJavaAndMaven()) return startFromJars;
  throw new Error(installInstructions);
};

const startFromJars: StartServer = async (context) => {
  const { directory, host = loopback } = context;
  const jars = join(await fetchWithMaven("kafka", context), "*");
  await mkdir(directory);
  const configFile = join(directory, "server.properties");
  const loggingOption = `-Dlog4j2.configurationFile=${join(import.meta.dirname, "log4j2.xml")}`;
  // A test broker runs for minutes, so the C2 compiler would cost more time than it saves.
  const javaOptions = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", loggingOption, "-cp", jars];
  // Kafka would parse an ID that starts with a hyphen as an option.
  const clusterId = `t${randomBytes(15).toString("base64url")}A`;
  const formatArgs = ["kafka.tools.StorageTool", "format", "-t", clusterId, "-c", configFile];

  return await startOnPorts(host, async (ports) => {
    const lines = Object.entries({
      ...buildProperties(host, ports),
      "log.dirs": join(directory, "data"),
    });
    await writeFile(
      configFile,
      lines.map(([propertyName, value]) => `${propertyName}=${value}\n`).join(""),
    );
    await run("java", ["-Xmx128m", ...javaOptions, ...formatArgs, "--ignore-formatted"], {
      timeout: formatMsMax,
    });
    const args = ["-Xms64m", "-Xmx256m", ...javaOptions, "kafka.Kafka", configFile];
    return await runServer({ name: "Kafka", command: "java", args, ...readyOptions }, context);
  });
};

// `docker run` stays in the foreground: it forwards SIGTERM to the container and exits with it.
const startContainer: StartServer = async (context) => {
  await mkdir(context.directory);
  await pullImage(context);
  return await startOnPorts(loopback, async (ports) => {
    const { port, saslPort, controllerPort } = ports;
    const variables = Object.entries({
      ...buildProperties(loopback, ports),
      listeners: formatListeners("0.0.0.0", ports, `127.0.0.1:${controllerPort}`),
      "log.dirs": "/tmp/kafka-data",
    }).flatMap(([propertyName, value]) => [
      "--env",
      `KAFKA_${propertyName.toUpperCase().replaceAll("_", "__").replaceAll(".", "_")}=${value}`,
    ]);
    const publishOptions = [port, saslPort].flatMap((publishedPort) => [
      "--publish",
      `127.0.0.1:${publishedPort}:${publishedPort}`,
    ]);
    const args = ["run", "--rm", ...publishOptions, ...variables, image];
    return await runServer({ name: "Kafka", command: "docker", args, ...readyOptions }, context);
  });
};

const pullImage = async ({ report, signal }: ServerContext): Promise<void> => {
  report(`fetching the image ${image} with Docker`);
  await run("docker", ["pull", "--quiet", image], { timeout: pullMsMax, signal });
};

const startOnPorts = (
  host: string,
  start: (ports: Ports) => Promise<Omit<RunningServer, "url" | "extraUrls">>,
) =>
  startOnFreePorts(3, async ([port = 0, saslPort = 0, controllerPort = 0]) => ({
    ...(await start({ port, saslPort, controllerPort })),
    url: `${host}:${port}`,
    extraUrls: { KAFKA_SASL_BROKERS: `${host}:${saslPort}` },
  }));

const formatListeners = (host: string, { port, saslPort }: Ports, controller: string): string =>
  `PLAINTEXT://${host}:${port},SASL_PLAINTEXT://${host}:${saslPort},CONTROLLER://${controller}`;

/** Two users per service, so that a test can rotate from one to the other. */
const saslUsers = ["auth-keys", "links-api", "settlement-listener", "webhook-dispatcher"]
  .flatMap((service) => [service, `${service}-next`])
  .map((username) => `user_${username}="${getTestKafkaPassword(username)}"`);

/**
 * A small node that is both broker and controller, for a machine with two CPUs. Unauthenticated
 * clients can do everything. Authenticated users can do only what an ACL grants.
 */
const buildProperties = (host: string, ports: Ports): Readonly<Record<string, string>> => ({
  "process.roles": "broker,controller",
  "node.id": "1",
  "controller.quorum.voters": `1@127.0.0.1:${ports.controllerPort}`,
  listeners: formatListeners(host, ports, `127.0.0.1:${ports.controllerPort}`),
  "advertised.listeners": `PLAINTEXT://${host}:${ports.port},SASL_PLAINTEXT://${host}:${ports.saslPort}`,
  "controller.listener.names": "CONTROLLER",
  "inter.broker.listener.name": "PLAINTEXT",
  "listener.security.protocol.map":
    "PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
  "sasl.enabled.mechanisms": "PLAIN",
  "listener.name.sasl_plaintext.plain.sasl.jaas.config": `org.apache.kafka.common.security.plain.PlainLoginModule required ${saslUsers.join(" ")};`,
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
  // As in production, using a topic that was never created must fail.
  "auto.create.topics.enable": "false",
  "group.initial.rebalance.delay.ms": "0",
  "broker.session.timeout.ms": "3000",
  "broker.heartbeat.interval.ms": "500",
  "log.cleaner.dedupe.buffer.size": "16777216",
  "log.segment.bytes": "67108864",
});
