import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { ensureConsoleBuilt } from "@payment-links/console/ensure-built";
import { findKafka } from "../servers/kafka.ts";
import { findRedis } from "../servers/redis.ts";

// Runs main.ts in its own network namespace, with Ethernet's MTU on the loopback interface. With
// loopback's default MTU of 64 KiB, the kernel buffers up to 1 MB for each client that does not
// read, and runs out of TCP memory.

const ethernetMtu = 1_500;
const setUp = `ip link set dev lo mtu ${ethernetMtu} up && exec "$@"`;

if (process.platform !== "linux" || process.getuid?.() !== 0) {
  process.stderr.write("attacks: needs Linux and root, to create a network namespace\n");
  process.exit(2);
}
// Downloads and builds run first, because the namespace has no access to other networks.
await ensureConsoleBuilt({
  env: process.env,
  report: (line) => void process.stderr.write(`${line}\n`),
});
await findKafka();
await findRedis();
const main = fileURLToPath(new URL("main.ts", import.meta.url));
const command = [process.execPath, ...process.execArgv, main, ...process.argv.slice(2)];
const child = spawn("unshare", ["--net", "sh", "-c", setUp, "sh", ...command], {
  stdio: "inherit",
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => child.kill(signal));
}
const [code] = (await once(child, "exit")) as [number | null];
process.exitCode = code ?? 1;
