import { createHmac, timingSafeEqual } from "node:crypto";
import { type IncomingHttpHeaders, createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** One webhook as it came in, before anything in it was verified. */
export type Received = {
  path: string;
  headers: IncomingHttpHeaders;
  raw: Buffer;
  body: {
    id: string;
    type: string;
    createdAt: string;
    data: Record<string, unknown> & { transaction?: Record<string, unknown> };
  };
};

export type Receiver = {
  port: number;
  received: Received[];
  /** Decides the status of an answer; 204 unless set. */
  answerWith(decide: (received: Received) => number): void;
  close(): Promise<void>;
};

/** A stranger that takes webhooks on loopback. */
export const openReceiver = async (): Promise<Receiver> => {
  const received: Received[] = [];
  let decide: (received: Received) => number = () => 204;
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => {
      const raw = Buffer.concat(chunks);
      const body = JSON.parse(raw.toString("utf8")) as Received["body"];
      const one = { path: req.url ?? "", headers: req.headers, raw, body };
      received.push(one);
      res.writeHead(decide(one)).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    received,
    answerWith: (next) => {
      decide = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

/** Verifies a delivery as an integrator would, from the raw bytes (rule HOOK-12). */
export const isSignedWith = (secret: string, { headers, raw }: Received): boolean => {
  const signed = `${String(headers["service-timestamp"])}.${raw.toString("utf8")}`;
  const expected = `v1=${createHmac("sha256", secret).update(signed).digest("hex")}`;
  const given = String(headers["service-signature"]);
  return (
    given.length === expected.length && timingSafeEqual(Buffer.from(given), Buffer.from(expected))
  );
};
