import { execFile } from "node:child_process";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { serveHttp } from "@payment-links/local-chains/serve-json-rpc";

type Call = { id: number; method: string; params: readonly unknown[] };

/**
 * Serves JSON-RPC. It writes the replies of a batch one by one, because a whole batch would not fit
 * into a test's memory. It stops writing when the client disconnects.
 */
export const serveHeavyNode = (
  handleCall: (method: string, params: readonly unknown[]) => unknown,
) => {
  const createReply = ({ id, method, params }: Call) =>
    JSON.stringify({ jsonrpc: "2.0", id, result: handleCall(method, params) });
  const writeParts = function* (body: Call | Call[]): Generator<string, void> {
    if (!Array.isArray(body)) return void (yield createReply(body));
    for (const [index, call] of body.entries())
      yield `${index === 0 ? "[" : ","}${createReply(call)}`;
    yield "]";
  };
  return serveHttp(async (request, response) => {
    const body: Call | Call[] = JSON.parse(await text(request));
    response.setHeader("content-type", "application/json");
    await pipeline(Readable.from(writeParts(body)), response);
  });
};

const program = fileURLToPath(new URL("./read-heavy-chain.ts", import.meta.url));

/** Three quarters of the 384 MiB that the chart gives the pod. */
export const chartHeapMib = 288;

/** Reads a range of a chain in a process with a small heap. Rejects if the process fails. */
export const readHeavyChain = async (
  url: string,
  {
    chainId,
    from,
    to,
    owner = "",
    heapMib = chartHeapMib,
  }: { chainId: string; from: number; to: number; owner?: string; heapMib?: number },
): Promise<{ foundCount: number; peakBytes: number; reads: number }> => {
  const options = [`--max-old-space-size=${heapMib}`, "--disable-warning=ExperimentalWarning"];
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...options,
    program,
    url,
    chainId,
    `${from}`,
    `${to}`,
    ...(owner === "" ? [] : [owner]),
  ]);
  return JSON.parse(stdout);
};
