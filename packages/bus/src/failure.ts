import { AssertionError } from "node:assert";
import {
  BackendTerminatedError,
  BackendTerminatedUnexpectedlyError,
  ConnectionError,
  DataIntegrityError,
  IdleTransactionTimeoutError,
  InvalidInputError,
  SchemaValidationError,
  StatementCancelledError,
  StatementTimeoutError,
  TupleMovedToAnotherPartitionError,
} from "slonik";
import * as z from "zod";
import { ApiError } from "@payment-links/contracts";
import { type ErrorCause, listCauses } from "@payment-links/postgres";

/**
 * Why a record could not be applied. `transient`: the database or the way to it failed, which will
 * pass. `permanent`: the same record would fail for ever. `unknown`: a few tries are worth it.
 */
export type FailureClass = "transient" | "permanent" | "unknown";

/** Tells what kind of failure an error is. */
export const classifyFailure = (error: unknown): FailureClass => {
  for (const cause of listCauses(error)) {
    if (isPermanent(cause)) return "permanent";
    if (isTransient(cause)) return "transient";
  }
  return "unknown";
};

const permanentErrors = [
  ApiError,
  AssertionError,
  z.ZodError,
  SchemaValidationError,
  DataIntegrityError,
  InvalidInputError,
];

/** State 22: a value that its column cannot hold. */
const isPermanent = ({ error, code }: ErrorCause): boolean =>
  permanentErrors.some((errorClass) => error instanceof errorClass) || code.startsWith("22");

const transientErrors = [
  BackendTerminatedError,
  BackendTerminatedUnexpectedlyError,
  ConnectionError,
  IdleTransactionTimeoutError,
  StatementCancelledError,
  StatementTimeoutError,
  TupleMovedToAnotherPartitionError,
];

const transientCodes = new Set([
  "EAI_AGAIN",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EPIPE",
  "ETIMEDOUT",
]);

/**
 * 08 connection, 25006 the old primary is now a replica, 25P03 and 25P04 time-outs of a
 * transaction, 40 serialization and deadlock, 53 no resources left, 55P03 lock not available, 57
 * cancelled or shut down, 58 the server's own system.
 */
const transientStatePattern = /^(?:08|40|53|57|58)|^(?:25006|25P03|25P04|55P03)$/;

/** slonik's driver throws plain errors if a connection died between two statements. */
const deadConnectionPattern =
  /^Client (?:is|has) |^Connection pool |connection timeout|timeout expired/i;

const isTransient = ({ error, code }: ErrorCause): boolean =>
  transientErrors.some((errorClass) => error instanceof errorClass) ||
  transientCodes.has(code) ||
  transientStatePattern.test(code) ||
  deadConnectionPattern.test(error.message);
