import type { Log } from "@payment-links/runtime";
import { callRpc } from "../call-rpc.ts";
import { startProgram } from "../start-program.ts";

/** The credentials for the node's RPC. */
const user = "local";
const password = "bitcoin";

const cacheMebibytesMax = 16;
/**
 * btcd rejects more connections than this with an HTTP error. Its default is 10, and tests send 50
 * concurrent calls.
 */
const rpcConnectionsMax = 1_000;

/** A Bitcoin node on loopback. */
export type Btcd = {
  /** Contains the user and password, like the node URLs in the configuration. */
  url: string;
  callRpc: (method: string, ...params: readonly unknown[]) => Promise<unknown>;
  close(): Promise<void>;
};

/**
 * Starts btcd with its own regtest chain in the given folder and with indexes of transactions and
 * addresses. New blocks pay the given address.
 */
export const startBtcd = async ({
  program,
  directory,
  minerAddress,
  port = 0,
  log,
}: {
  program: string;
  directory: string;
  minerAddress: string;
  port?: number;
  log: Log;
}): Promise<Btcd> => {
  const node = await startProgram({
    program,
    args: [
      "--regtest",
      "--configfile=/dev/null",
      `--datadir=${directory}`,
      `--logdir=${directory}/logs`,
      "--notls",
      `--rpclisten=127.0.0.1:${port}`,
      `--rpcuser=${user}`,
      `--rpcpass=${password}`,
      `--rpcmaxclients=${rpcConnectionsMax}`,
      "--txindex",
      "--addrindex",
      "--nolisten",
      "--nodnsseed",
      `--utxocachemaxsize=${cacheMebibytesMax}`,
      `--miningaddr=${minerAddress}`,
    ],
    listeningPattern: /RPC server listening on 127\.0\.0\.1:(\d+)$/,
    log,
  });
  const url = node.url.replace("http://", `http://${user}:${password}@`);
  return {
    url,
    callRpc: (method, ...params) => callRpc(url, method, params),
    close: () => node.close(),
  };
};
