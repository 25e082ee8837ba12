import { RpcError } from "./serve-json-rpc.ts";

type Reply = {
  result?: unknown;
  error?: { code: number; message: string; data?: unknown } | null;
};

/**
 * Calls a node's method. Throws the node's error unchanged. The URL can contain a user and a
 * password.
 */
export const callRpc = async (
  url: string,
  method: string,
  params: readonly unknown[] = [],
): Promise<unknown> => {
  const { username, password, origin, pathname, search } = new URL(url);
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
  const response = await fetch(`${origin}${pathname}${search}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(username === "" ? {} : { authorization }) },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const { result, error } = (await response.json()) as Reply;
  if (error) throw new RpcError(error.code, error.message, error.data);
  return result;
};
