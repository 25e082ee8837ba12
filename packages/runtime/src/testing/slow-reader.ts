import { once } from "node:events";
import { type Socket, connect } from "node:net";

/** A client that requests a file and reads only the part of it that a test wants. */
export type SlowReader = {
  status: number;
  /** The status line and headers of the response. */
  head: string;
  /** Returns whether the connection is closed. */
  isClosed(): boolean;
  /** Reads at least this many bytes, or all remaining bytes if there are fewer. */
  read(byteCount: number): Promise<void>;
  disconnect(): void;
};

type SlowReaderOptions = {
  url: string;
  headers?: Record<string, string>;
  /** The source address, on loopback. */
  sourceAddress?: string;
};

/** Sends a request and reads the response's headers. Reads the body only on `read`. */
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
