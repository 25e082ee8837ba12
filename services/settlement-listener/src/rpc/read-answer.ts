import { RpcFault } from "./rpc-fault.ts";

/** Reads a call's result; throws {@link RpcFault} where it has another shape. */
export type ReadAnswer<T> = (result: unknown) => T;

/** A JSON object; another value is refused. */
export const readObject = (value: unknown): Readonly<Record<string, unknown>> =>
  isObject(value) ? value : refuseShape();

/** A JSON array; another value is refused. */
export const readArray = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : refuseShape();

/** Whether a JSON value is an object with fields. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Throws that an answer has another shape than it must have. */
export const refuseShape = (): never => {
  throw new RpcFault("invalid", "another shape");
};
