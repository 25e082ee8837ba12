import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

const javaMajorMin = 17;
const commandTimeoutMs = 120_000;

/** True if a Java that Kafka 4 accepts is on the PATH. */
export const hasJava = async (): Promise<boolean> => {
  const versionOutput = await run("java", ["-version"], { timeout: commandTimeoutMs }).catch(
    () => undefined,
  );
  return Number(/version "(\d+)/.exec(versionOutput?.stderr ?? "")?.[1]) >= javaMajorMin;
};

/** True if Maven is on the PATH and finds a Java. */
export const hasMaven = (): Promise<boolean> => canRun("mvn", ["--version"]);

/** True if a Docker engine answers: its client alone runs nothing. */
export const hasDocker = (): Promise<boolean> =>
  canRun("docker", ["info", "--format", "{{.ServerVersion}}"]);

/** True if `redis-server` is on the PATH. */
export const hasRedis = (): Promise<boolean> => canRun("redis-server", ["--version"]);

/** The one line to print on a machine that has none of them. */
export const installInstructions =
  "the tests need Kafka and Redis: install Java 17 (or newer) and Maven (Debian: apt-get install " +
  "default-jre-headless maven), or start Docker, or set KAFKA_BROKERS and REDIS_URL";

const canRun = (command: string, args: readonly string[]): Promise<boolean> =>
  run(command, args, { timeout: commandTimeoutMs }).then(
    ({ stdout }) => stdout.trim() !== "",
    () => false,
  );
