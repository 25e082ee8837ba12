import { systemClock, createMetrics } from "@payment-links/runtime";
import { createLocalBus, createRelay, on, startConsumer } from "../index.ts";
import { connectPool } from "@payment-links/postgres";
import { silentLog, createTestEventType, writeEffect } from "./rig.ts";

/*
 * A process that is killed at the worst moment: its consumer has committed the events that its
 * relay sent, but the relay has not deleted them yet. Arguments: the database URL, the topic and
 * the group.
 */
const [url = "", topic = "", group = ""] = process.argv.slice(2);
const metrics = createMetrics("killed");
const pool = await connectPool({
  url,
  applicationName: "killed",
  connectionsMax: 2,
  log: silentLog,
});
const bus = createLocalBus({ groups: [group] });
await startConsumer({
  bus,
  pool,
  group,
  metrics,
  log: silentLog,
  clock: systemClock,
  handlers: [
    on(createTestEventType(topic), (tx, { step }, { key }) => writeEffect(tx, { key, step })),
  ],
});
createRelay({
  databaseUrl: url,
  service: "killed",
  metrics,
  log: silentLog,
  bus: {
    ...bus,
    publish: async (records) => {
      await bus.publish(records);
      process.kill(process.pid, "SIGKILL");
    },
  },
});
