import { RpcError } from "./serve-json-rpc.ts";

type Reply = { result?: unknown; error?: { code: number; message: string; data?: unknown } };

/** Calls a node's method. Throws the node's error unchanged. */
export const callRpc = async (
  url: string,
  method: string,
  params: readonly unknown[] = [],
): Promise<unknown> => {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const { result, error } = (await response.json()) as Reply;
  if (error !== undefined) throw new RpcError(error.code, error.message, error.data);
  return result;
};
