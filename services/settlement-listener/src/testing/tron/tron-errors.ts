import { RpcError } from "../serve-json-rpc.ts";

/** Creates java-tron's error for invalid parameters. java-tron adds the braces. */
export const invalidParamsError = (message: string): RpcError =>
  new RpcError(-32602, message, "{}");
