import type { BackgroundJob } from "@payment-links/process";
import type { Dependencies } from "../dependencies.ts";
import { deleteIgnoredFields } from "../store/ignored-fields.ts";

const retentionMs = 30 * 24 * 60 * 60_000;
const limit = 1_000;

/** Deletes ignored fields that no create has sent for 30 days (rule API-43). */
export const deleteOldIgnoredFields = ({
  clock,
  pool,
}: Pick<Dependencies, "clock" | "pool">): BackgroundJob => ({
  name: "ignored fields",
  waitMs: 60 * 60_000,
  run: async () => {
    const seenBefore = new Date(clock.now().getTime() - retentionMs);
    return (await deleteIgnoredFields(pool, { seenBefore, limit })) === limit;
  },
});
