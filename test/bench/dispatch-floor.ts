import { createHmac, randomUUID } from "node:crypto";
import { Pool } from "undici";

// The minimal sender of the same deliveries: signed POST requests with a deadline over keep-alive
// connections. The bodies are prepared in advance. It does not use a database.
const { env } = process;
const count = Number(env["COUNT"]);
const connections = Number(env["CONNECTIONS"]);
const body = env["BODY"] ?? "";
const deadlineMs = 10_000;

const pool = new Pool(env["SINK_URL"] ?? "", { connections, pipelining: 1 });
const secret = Buffer.alloc(32, 1);
let sentCount = 0;

const runWorker = async () => {
  while (sentCount < count) {
    sentCount += 1;
    const timestamp = String(Math.floor(Date.now() / 1000));
    const signature = createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex");
    const response = await pool.request({
      method: "POST",
      path: "/hook",
      headers: {
        "content-type": "application/json",
        "service-event-id": randomUUID(),
        "service-timestamp": timestamp,
        "service-signature": `v1=${signature}`,
      },
      body,
      signal: AbortSignal.timeout(deadlineMs),
    });
    await response.body.dump();
    if (response.statusCode !== 200)
      throw new Error(`the sink responded with ${response.statusCode}`);
  }
};

const startedAt = performance.now();
const cpuBefore = process.cpuUsage();
await Promise.all(Array.from({ length: connections }, runWorker));
const cpuUsed = process.cpuUsage(cpuBefore);
const seconds = (performance.now() - startedAt) / 1000;
const cpuMs = (cpuUsed.user + cpuUsed.system) / 1000;
process.stdout.write(`${JSON.stringify({ rate: count / seconds, cpuMs: cpuMs / count })}\n`);
await pool.close();
