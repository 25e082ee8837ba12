import { types } from "node:util";

/** One error in a chain of causes. */
export type ErrorCause = {
  error: Error;
  /**
   * The SQLSTATE of Postgres, or an operating system code such as ECONNREFUSED. Empty if there is
   * none.
   */
  code: string;
};

const causesMax = 5;

/** Lists an error and its causes, at most 5, each with its code. Use it to find an SQLSTATE. */
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
