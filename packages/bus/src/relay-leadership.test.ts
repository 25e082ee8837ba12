import { expect, test } from "@jest/globals";
import { useRig } from "@payment-links/runtime/testing/use-rig";
import { createCandidate } from "./relay-leadership.ts";
import { createTestSchema, silentLog } from "./testing/rig.ts";

const database = useRig(createTestSchema);

test.each(["", "?options=-c%20work_mem%3D8MB"])(
  "a leader's session detects a dead peer within seconds, whatever options its URL has: %j",
  async (query) => {
    const candidate = createCandidate({
      databaseUrl: `${database.url}${query}`,
      applicationName: "a test's relay",
      log: silentLog,
      onNotification: () => {},
      onOutboxChecked: () => {},
    });
    const leadership = await candidate.tryAcquire();
    if (leadership === undefined) throw new Error("the candidate is not the leader");
    const settingNames = ["idle", "interval", "count"].map((name) => `tcp_keepalives_${name}`);
    const rows = await candidate.query(leadership.client, {
      text: "SELECT setting FROM pg_settings WHERE name = ANY ($1) ORDER BY name DESC",
      values: [[...settingNames, "enable_seqscan"]],
    });
    await candidate.resign(true);
    expect(rows.map(({ setting }) => setting)).toEqual(["2", "5", "3", "off"]);
  },
);
