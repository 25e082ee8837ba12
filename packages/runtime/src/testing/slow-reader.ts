import { once } from "node:events";
import { type Socket, connect } from "node:net";

/** A client that requests a file and reads as much of it as a test wants. */
export type SlowReader = {
  /** The status of the response. */
  status: number;
  /** The head of the response. */
  head: string;
  /** Whether the server has ended the connection. */
  isClosed(): boolean;
  /** Reads at least so many bytes, or what is left. */
  read(byteCount: number): Promise<void>;
  disconnect(): void;
};

type SlowReaderOptions = {
  url: string;
  headers?: Record<string, string>;
  /** The source address, one of loopback. */
  sourceAddress?: string;
};

/** Sends a request and reads the head of its response, then nothing until it is told to. */
export const connectSlowReader = async ({
  url,
  headers = {},
  sourceAddress = "127.0.0.1",
}: SlowReaderOptions): Promise<SlowReader> => {
  const { hostname, pathname, port, search } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), localAddress: sourceAddress });
  const closed = new Promise<void>((resolve) => {
    socket.once("close", () => resolve());
  });
  socket.on("error", () => {});
  const headerLines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(
    `GET ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}\r\n${headerLines.join("")}\r\n`,
  );
  const head = await readHead(socket);
  return {
    status: Number(head.split(" ")[1]),
    head,
    isClosed: () => socket.closed,
    read: async (byteCount) => {
      for (let readByteCount = 0; readByteCount < byteCount && !socket.closed;) {
        const chunk: Buffer | null = socket.read();
        if (chunk === null) await Promise.race([once(socket, "readable"), closed]);
        else readByteCount += chunk.length;
      }
    },
    disconnect: () => void socket.destroy(),
  };
};

const readHead = async (socket: Socket): Promise<string> => {
  let text = "";
  while (!text.includes("\r\n\r\n") && !socket.destroyed) {
    const chunk: Buffer | null = socket.read();
    if (chunk === null) await Promise.race([once(socket, "readable"), once(socket, "close")]);
    else text += chunk.toString("latin1");
  }
  return text;
};
