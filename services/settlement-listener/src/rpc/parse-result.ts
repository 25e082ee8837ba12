import { RpcFault } from "./rpc-fault.ts";

/** Parses a call's result. Throws {@link RpcFault} if it has another shape. */
export type ResultParser<T> = (result: unknown) => T;

/** Returns a JSON object. Throws for any other value. */
export const parseObject = (value: unknown): Readonly<Record<string, unknown>> =>
  isObject(value) ? value : throwInvalidShape();

/** Returns a JSON array. Throws for any other value. */
export const parseArray = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : throwInvalidShape();

/** Returns whether a JSON value is an object, not an array or null. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Throws the fault for a result of the wrong shape. */
export const throwInvalidShape = (): never => {
  throw new RpcFault("invalid", "invalid result");
};
