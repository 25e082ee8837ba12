import { createHmac } from "node:crypto";
import { type IncomingHttpHeaders, type ServerResponse, createServer } from "node:http";
import { type Server, createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";

/** A request that the receiver got. */
export type ReceivedRequest = {
  method: string | undefined;
  path: string | undefined;
  headers: IncomingHttpHeaders;
  raw: string;
  body: Record<string, unknown> & { id: string; type: string };
};

type Respond = (res: ServerResponse, received: ReceivedRequest) => void;

/** Responds with only a status. */
export const respondWithStatus =
  (status: number, headers: Record<string, string> = {}) =>
  (res: ServerResponse) =>
    void res.writeHead(status, headers).end();

/** Starts a merchant's server on loopback. It records requests and responds as the test specifies. */
export const startReceiver = async (tls?: { key: string; cert: string }) => {
  const received: ReceivedRequest[] = [];
  let respond: Respond = respondWithStatus(200);
  const server = (tls === undefined ? createServer() : createTlsServer(tls)) as Server;
  let connectionsCount = 0;
  server.on("connection", () => (connectionsCount += 1));
  server.on("request", async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk);
    const raw = Buffer.concat(chunks).toString("utf8");
    const { method, url: path, headers } = req;
    const request = { method, path, headers, raw, body: JSON.parse(raw) };
    received.push(request);
    respond(res, request);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    received,
    origin: `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}`,
    connectionsCount: () => connectionsCount,
    respondWith: (newRespond: Respond) => {
      respond = newRespond;
    },
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
};
export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/** Computes the signature of rule HOOK-12 as a receiver would, independently of the sender's code. */
export const expectedSignature = ({ headers, raw }: ReceivedRequest, secret: string): string => {
  const signedText = `${String(headers["service-timestamp"])}.${raw}`;
  return `v1=${createHmac("sha256", secret).update(signedText).digest("hex")}`;
};
