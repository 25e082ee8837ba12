import type { RpcRequest } from "./json-rpc.ts";
import type { ClassifyError, ClassifyReply } from "./rpc-fault.ts";

/** What the nodes of a chain say in a way of their own. */
export type Dialect = {
  /** Asks a node which chain it serves. */
  chainRequest: RpcRequest<string>;
  /** What the right one answers to that. */
  chainName: string;
  classifyError: ClassifyError;
  classifyReply?: ClassifyReply;
};
