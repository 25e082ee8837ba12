import { type ServiceName, findService } from "@payment-links/deploy/ingress";
import { Agent, type ClientRequest, request } from "node:http";

export type Call = {
  method?: "GET" | "POST" | "PATCH";
  path: string;
  headers?: Record<string, string>;
  body?: string;
};

/** The status and body of a call, or the code of the error that ended it. */
export type CallResult = {
  status?: number;
  error?: string;
  text: string;
  ms: number;
  /** Whether the call reused a keep-alive connection. */
  isReused: boolean;
};

export type HttpCaller = { send(call: Call): Promise<CallResult>; close(): void };

/** A call without a response within this time counts as a broken connection. */
const responseMsMax = 30_000;

/** The public port of each service. */
export type Ports = Readonly<Record<ServiceName, number>>;

/** Returns the port of the service to which an ingress would route a path. */
export const portFor = (ports: Ports, path: string): number => ports[findService(path)];

/** Creates an HTTP client with one source address and keep-alive connections. */
export const createHttpCaller = (
  ports: Ports,
  localAddress: string,
  connectionsMax = Number.POSITIVE_INFINITY,
): HttpCaller => {
  const agent = new Agent({ keepAlive: true, localAddress, maxSockets: connectionsMax });
  return {
    send: ({ method = "GET", path, headers = {}, body }) =>
      new Promise((resolve) => {
        const startedAtMs = performance.now();
        let text = "";
        const settle = (
          clientRequest: ClientRequest,
          result: { status?: number; error?: string },
        ) =>
          resolve({
            ...result,
            text,
            ms: performance.now() - startedAtMs,
            isReused: clientRequest.reusedSocket,
          });
        const contentType = body === undefined ? {} : { "content-type": "application/json" };
        const clientRequest = request(
          {
            host: "127.0.0.1",
            port: portFor(ports, path),
            agent,
            method,
            path,
            headers: { ...contentType, ...headers },
          },
          (response) => {
            response.on("data", (chunk: Buffer) => {
              if (text.length < 65_536) text += chunk.toString("latin1");
            });
            response.on("end", () => settle(clientRequest, { status: response.statusCode ?? 0 }));
            response.on("error", () => settle(clientRequest, { error: "cut" }));
          },
        );
        clientRequest.setTimeout(responseMsMax, () => clientRequest.destroy(new Error("timeout")));
        clientRequest.on("error", (error: NodeJS.ErrnoException) =>
          settle(clientRequest, { error: error.code ?? error.message }),
        );
        clientRequest.end(body);
      }),
    close: () => agent.destroy(),
  };
};
