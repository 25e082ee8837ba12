/** What is due over final blocks, behind the first pass; see `second-pass/duties.ts`. */
export const dutyNames = ["judge", "learn", "forget", "rescan", "audit"] as const;
export type DutyName = (typeof dutyNames)[number];
