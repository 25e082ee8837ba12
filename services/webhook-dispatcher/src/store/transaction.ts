/** A connection within a transaction; what takes one cannot be called outside of it. */
export type { DatabaseTransactionConnection as Transaction } from "slonik";
