import { RpcFault } from "./rpc-fault.ts";

/** Reads a call's result; throws {@link RpcFault} where it has another shape. */
export type ResultParser<T> = (result: unknown) => T;

/** A JSON object; another value is refused. */
export const parseObject = (value: unknown): Readonly<Record<string, unknown>> =>
  isObject(value) ? value : throwInvalidShape();

/** A JSON array; another value is refused. */
export const parseArray = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : throwInvalidShape();

/** Whether a JSON value is an object with fields. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Throws that an answer has another shape than it must have. */
export const throwInvalidShape = (): never => {
  throw new RpcFault("invalid", "another shape");
};
