import { type OnReadOpts, type Socket, connect } from "node:net";
import { addOne } from "./counts.ts";
import type { AttackRun } from "./flood.ts";
import { portFor } from "./http-caller.ts";

type HoldOptions = {
  /** Sockets from all addresses together. */
  count?: number;
  /** What a socket sends once it is open. Its request line decides which service it goes to. */
  first: (index: number) => string;
  /** What it sends after that, and how often. */
  more?: { everyMs: number; text: string };
  reading: "all" | "one byte per second" | "nothing";
};

const openedPerSecond = 500;
const tickMs = 50;

const statusLine = /HTTP\/1\.1 (\d{3}) /g;

/** Keeps sockets open. Replaces each one that the product closes. */
export const holdSockets = (
  { counts, signal, target }: AttackRun,
  { first, more, reading, ...options }: HoldOptions,
): void => {
  const { addresses, ports, socketsMax } = target;
  const count = options.count ?? socketsMax;
  const sockets = new Set<Socket>();
  const oneByte: OnReadOpts = {
    buffer: Buffer.alloc(1),
    callback: (byteCount) => {
      counts.bytesRead += byteCount;
      return false;
    },
  };
  const open = (index: number): void => {
    const localAddress = addresses[index % addresses.length] ?? "127.0.0.1";
    const onread = reading === "one byte per second" ? { onread: oneByte } : {};
    const text = first(index);
    const port = portFor(ports, text.split(" ", 2)[1] ?? "/");
    const socket = connect({ host: "127.0.0.1", port, localAddress, ...onread });
    if (reading === "nothing") socket.pause();
    sockets.add(socket);
    counts.opened += 1;
    socket.write(text);
    socket.once("connect", () => {
      counts.held += 1;
      counts.heldMost = Math.max(counts.heldMost, counts.held);
      socket.once("close", () => {
        counts.held -= 1;
        if (!signal.aborted) counts.closed += 1;
      });
    });
    socket.on("error", (error: NodeJS.ErrnoException) => {
      if (!signal.aborted) addOne(counts.errors, error.code ?? error.message);
    });
    socket.once("close", () => sockets.delete(socket));
    if (reading !== "all") return;
    socket.on("data", (chunk: Buffer) => {
      counts.bytesRead += chunk.length;
      const statuses = chunk.toString("latin1").matchAll(statusLine);
      for (const [, status = ""] of statuses) addOne(counts.answers, status);
    });
    // A server that has answered and ended its side gets the same from us.
    socket.once("end", () => socket.destroy());
  };

  let openedCount = 0;
  const startedAtMs = performance.now();
  const opener = setInterval(() => {
    const dueCount = ((performance.now() - startedAtMs) / 1_000) * openedPerSecond;
    while (openedCount < dueCount) {
      openedCount += 1;
      if (sockets.size < count) open(openedCount);
    }
  }, tickMs);
  const writer = setInterval(() => {
    for (const socket of sockets) if (!socket.connecting) socket.write(more?.text ?? "");
  }, more?.everyMs ?? 3_600_000);
  const reader = setInterval(() => {
    if (reading === "one byte per second") for (const socket of sockets) socket.resume();
  }, 1_000);
  signal.addEventListener("abort", () => {
    for (const timer of [opener, writer, reader]) clearInterval(timer);
    for (const socket of sockets) socket.destroy();
  });
};
