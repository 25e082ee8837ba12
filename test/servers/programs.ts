import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

const javaMajorMin = 17;
const commandTimeoutMs = 120_000;

/** Returns true if a Java version that Kafka 4 supports is on the PATH. */
export const hasJava = async (): Promise<boolean> => {
  const versionOutput = await run("java", ["-version"], { timeout: commandTimeoutMs }).catch(
    () => undefined,
  );
  return Number(/version "(\d+)/.exec(versionOutput?.stderr ?? "")?.[1]) >= javaMajorMin;
};

/** Returns true if Maven is on the PATH and finds a Java installation. */
export const hasMaven = (): Promise<boolean> => canRun("mvn", ["--version"]);

/** Returns true if a Docker engine responds. The Docker client alone cannot run containers. */
export const hasDocker = (): Promise<boolean> =>
  canRun("docker", ["info", "--format", "{{.ServerVersion}}"]);

/** Returns true if `redis-server` is on the PATH. */
export const hasRedis = (): Promise<boolean> => canRun("redis-server", ["--version"]);

/** The message for a machine that has none of these programs. */
export const installInstructions =
  "the tests need Kafka and Redis: install Java 17 (or newer) and Maven (Debian: apt-get install " +
  "default-jre-headless maven), or start Docker, or set KAFKA_BROKERS and REDIS_URL";

const canRun = (command: string, args: readonly string[]): Promise<boolean> =>
  run(command, args, { timeout: commandTimeoutMs }).then(
    ({ stdout }) => stdout.trim() !== "",
    () => false,
  );
