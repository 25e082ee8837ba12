/** The jobs that run next to the scan, mostly over final blocks; see `audit/background-jobs.ts`. */
export const backgroundJobNames = [
  "judge",
  "learn",
  "foresee",
  "forget",
  "rescan",
  "audit",
] as const;
export type BackgroundJobName = (typeof backgroundJobNames)[number];
