export { type ErrorCause, listCauses } from "./list-causes.ts";
export { Int8, createJsonRecordset } from "./json-recordset.ts";
export { defineTable } from "./table.ts";
export { type Migration, migrate } from "./migrate.ts";
export { type LazyPool, createLazyPool } from "./lazy-pool.ts";
export { connectMigratedPool } from "./connect-migrated-pool.ts";
export { VoidRow, sqlVoid } from "./sql-void.ts";
export { ping } from "./ping.ts";
export { type Pool, connectPool } from "./pool.ts";
export { readDatabaseTime } from "./read-database-time.ts";
export {
  type Db,
  type Transaction,
  afterCommit,
  onTransactionEnd,
  transact,
  withStatementTimeout,
} from "./transact.ts";
