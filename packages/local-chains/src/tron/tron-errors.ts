import { RpcError } from "../serve-json-rpc.ts";

/** The response of an overloaded node. Its status is 200. */
export const overloadedResponse = {
  Error: "class java.lang.IllegalAccessException : lack of computing resources",
};

/** java-tron's own limit for the blocks of a log request. Hosts have lower limits. */
export const defaultBlockRangeMax = 5_000;

/**
 * Creates geth's error for a method that it does not have. java-tron returns it for methods that it
 * declares but does not support.
 */
export const unavailableMethodError = (method: string): RpcError =>
  new RpcError(-32601, `the method ${method} does not exist/is not available`, "{}");

/** Creates java-tron's error for invalid parameters. java-tron adds the braces. */
export const invalidParamsError = (message: string): RpcError =>
  new RpcError(-32602, message, "{}");

export const methodNotFoundError = (): RpcError => new RpcError(-32601, "method not found");
