import { types } from "node:util";

/** One error of a chain of causes. */
export type Cause = {
  error: Error;
  /** Postgres' SQL state, or the operating system's code such as ECONNREFUSED; else empty. */
  code: string;
};

const causesMax = 5;

/** An error, what caused it and so on, each with its code. This is how an SQL state is told. */
export const causesOf = (error: unknown): readonly Cause[] => {
  const causes: Cause[] = [];
  let next = error;
  while (types.isNativeError(next) && causes.length < causesMax) {
    causes.push({ error: next, code: codeOf(next) });
    next = next.cause;
  }
  return causes;
};

const codeOf = (error: Error): string =>
  "code" in error && typeof error.code === "string" ? error.code : "";
