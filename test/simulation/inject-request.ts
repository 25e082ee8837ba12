import { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import type { RequestListener } from "node:http";

export type InjectedRequest = {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  path: string;
  headers?: Record<string, string>;
  body?: string;
};

export type InjectedResponse = { status: number; text: string };

type AnyFunction = (...args: unknown[]) => unknown;

/** Passes a request to an app without a socket, so that the app does not wait for real I/O. */
export const injectRequest = (
  app: RequestListener,
  { method, path, headers = {}, body = "" }: InjectedRequest,
): Promise<InjectedResponse> =>
  new Promise((resolve) => {
    const socket = new Duplex({
      read: () => {},
      write: (_chunk, _encoding, done) => done(),
    }) as unknown as Socket;
    Object.assign(socket, { remoteAddress: "203.0.113.7", remotePort: 4711, encrypted: false });
    const req = new IncomingMessage(socket);
    const bytes = Buffer.from(body);
    req.method = method;
    req.url = path;
    req.httpVersion = "1.1";
    Object.assign(req, { httpVersionMajor: 1, httpVersionMinor: 1 });
    req.headers = {
      host: "pay.example",
      ...(body === "" ? {} : { "content-type": "application/json" }),
      "content-length": String(bytes.length),
      ...headers,
    };
    if (bytes.length > 0) req.push(bytes);
    req.push(null);
    req.complete = true;
    const res = new ServerResponse(req);
    res.assignSocket(socket);
    const chunks: Buffer[] = [];
    const collectChunk = (chunk: unknown) => {
      if (typeof chunk === "string" || Buffer.isBuffer(chunk)) chunks.push(Buffer.from(chunk));
    };
    const [originalWrite, originalEnd] = [res.write.bind(res), res.end.bind(res)] as AnyFunction[];
    Object.assign(res, {
      write: (...args: unknown[]) => {
        collectChunk(args[0]);
        return originalWrite?.(...args);
      },
      end: (...args: unknown[]) => {
        collectChunk(args[0]);
        return originalEnd?.(...args);
      },
    });
    res.once("finish", () => {
      resolve({ status: res.statusCode, text: Buffer.concat(chunks).toString() });
    });
    res.once("close", () => resolve({ status: res.statusCode, text: "" }));
    app(req, res);
  });
