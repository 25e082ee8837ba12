export { type Cause, causesOf } from "./causes-of.ts";
export { documentRows } from "./document-rows.ts";
export { type Migration, migrate } from "./migrate.ts";
export { openMigratedPool } from "./open-migrated-pool.ts";
export { NothingRow, nothing } from "./nothing.ts";
export { ping } from "./ping.ts";
export { type Pool, openPool } from "./pool.ts";
export { readClock } from "./read-clock.ts";
export { type Db, type Transaction, patiently, transact } from "./transact.ts";
