import { RpcError } from "../serve-json-rpc.ts";

/** java-tron's refusal of parameters; the braces are what it adds. */
export const invalidParamsError = (message: string): RpcError =>
  new RpcError(-32602, message, "{}");
