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
 * Why a record could not be applied:
 * - `transient`: the database or the connection to it failed, so a retry will help
 * - `permanent`: the record would fail every time
 * - `unknown`: the record is retried a few times
 */
export type FailureClass = "transient" | "permanent" | "unknown";

/** Classifies an error. */
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

/** SQLSTATE class 22: a value that its column cannot hold. */
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
 * SQLSTATE classes and codes:
 * - 08 connection failure
 * - 25006 the primary became a replica
 * - 25P03, 25P04 transaction timeouts
 * - 40 serialization failure or deadlock
 * - 53 insufficient resources
 * - 55P03 lock not available
 * - 57 canceled or shut down
 * - 58 system error on the server
 */
const transientStatePattern = /^(?:08|40|53|57|58)|^(?:25006|25P03|25P04|55P03)$/;

/** slonik's driver throws plain errors when a connection dies between two statements. */
const deadConnectionPattern =
  /^Client (?:is|has) |^Connection pool |connection timeout|timeout expired/i;

const isTransient = ({ error, code }: ErrorCause): boolean =>
  transientErrors.some((errorClass) => error instanceof errorClass) ||
  transientCodes.has(code) ||
  transientStatePattern.test(code) ||
  deadConnectionPattern.test(error.message);
