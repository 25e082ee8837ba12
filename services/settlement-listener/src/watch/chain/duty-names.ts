/** What is due beside the first pass, mostly over final blocks; see `second-pass/duties.ts`. */
export const dutyNames = ["judge", "learn", "foresee", "forget", "rescan", "audit"] as const;
export type DutyName = (typeof dutyNames)[number];
