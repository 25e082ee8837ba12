import { mkdir } from "node:fs/promises";
import { resolve } from "node:path";
import * as z from "zod";
import { openBenchServers } from "../bench/bench-servers.ts";
import { profileLatency } from "./latency.ts";

const settings = z
  .object({
    RATE: z.coerce.number().int().min(1).max(1_000).default(50),
    PAYMENTS: z.coerce.number().int().min(1).max(100_000).default(1_000),
    REPLICAS: z.coerce.number().int().min(1).max(4).default(1),
    OUT: z.string().default("profiles"),
  })
  .parse(process.env);

if (process.argv[2] !== "latency") {
  process.stderr.write(
    "usage: [RATE=50] [PAYMENTS=1000] [REPLICAS=1] npm run --silent profile -- latency\n",
  );
  process.exit(2);
}

const directory = resolve(settings.OUT);
await mkdir(directory, { recursive: true });
const servers = await openBenchServers();
try {
  const { files, followedCount, stages, ...cost } = await profileLatency({
    perSecond: settings.RATE,
    paymentCount: settings.PAYMENTS,
    replicasPerService: settings.REPLICAS,
    directory,
  });
  const widthMax = Math.max(...stages.map(({ stage }) => stage.length));
  const row = (stage: string, cells: readonly (string | number)[]) =>
    `${stage.padEnd(widthMax)}${cells.map((cell) => String(cell).padStart(11)).join("")}\n`;
  process.stdout.write(row("milliseconds", ["step p50", "step p99", "since p50", "since p99"]));
  for (const { stage, stepP50, stepP99, sinceP50, sinceP99 } of stages) {
    process.stdout.write(row(stage, [stepP50, stepP99, sinceP50, sinceP99]));
  }
  process.stdout.write(
    `${JSON.stringify({ profile: "latency", followed: followedCount, ...cost })}\n`,
  );
  process.stdout.write(`${files.join("\n")}\n`);
} finally {
  await servers.close();
}
