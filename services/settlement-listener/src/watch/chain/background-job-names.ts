/** The background jobs of a chain, which run next to the scan; see `audit/background-jobs.ts`. */
export const backgroundJobNames = [
  "judge",
  "learn",
  "foresee",
  "forget",
  "rescan",
  "audit",
] as const;
export type BackgroundJobName = (typeof backgroundJobNames)[number];
