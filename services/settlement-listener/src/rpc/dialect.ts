import type { RpcRequest } from "./json-rpc.ts";
import type { ClassifyError, ClassifyReply } from "./rpc-fault.ts";

/** The parts of the JSON-RPC protocol that differ between chains. */
export type Dialect = {
  /** The request for the chain that a node serves. */
  chainRequest: RpcRequest<string>;
  /** The expected result of `chainRequest`. */
  chainName: string;
  classifyError: ClassifyError;
  classifyReply?: ClassifyReply;
};
