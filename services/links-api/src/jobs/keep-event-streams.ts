import type { Job } from "@payment-links/process";
import type { Deps } from "../deps.ts";

/** Keeps event streams alive and bounded; it asks nobody, so that it goes on whoever is away. */
export const keepEventStreams = ({ eventStreams }: Pick<Deps, "eventStreams">): Job => ({
  name: "event streams",
  waitMs: eventStreams.beatMs,
  run: async () => eventStreams.beat(),
});
