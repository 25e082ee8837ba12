import { RpcFault } from "./rpc-fault.ts";

/** Parses a call's result. Throws {@link RpcFault} if the result has an unexpected shape. */
export type ResultParser<T> = (result: unknown) => T;

/** Returns the value as a JSON object. Throws {@link RpcFault} if it is anything else. */
export const parseObject = (value: unknown): Readonly<Record<string, unknown>> =>
  isObject(value) ? value : throwInvalidShape();

/** Returns the value as a JSON array. Throws {@link RpcFault} if it is anything else. */
export const parseArray = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : throwInvalidShape();

/** Returns whether a JSON value is an object rather than an array or null. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Throws the fault for a result with an unexpected shape. */
export const throwInvalidShape = (): never => {
  throw new RpcFault("invalid", "invalid result");
};
