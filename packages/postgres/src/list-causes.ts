import { types } from "node:util";

/** One error of a chain of causes. */
export type ErrorCause = {
  error: Error;
  /** Postgres' SQL state, or the operating system's code such as ECONNREFUSED; else empty. */
  code: string;
};

const causesMax = 5;

/** An error, what caused it and so on, each with its code. This is how an SQL state is told. */
export const listCauses = (error: unknown): readonly ErrorCause[] => {
  const causes: ErrorCause[] = [];
  let current = error;
  while (types.isNativeError(current) && causes.length < causesMax) {
    causes.push({ error: current, code: getErrorCode(current) });
    current = current.cause;
  }
  return causes;
};

const getErrorCode = (error: Error): string =>
  "code" in error && typeof error.code === "string" ? error.code : "";
