import { type OnReadOpts, type Socket, connect } from "node:net";
import { increment } from "./counts.ts";
import type { AttackRun } from "./flood.ts";
import { portFor } from "./http-caller.ts";

type HoldOptions = {
  /** The number of sockets from all addresses together. */
  count?: number;
  /**
   * Creates the text that a socket sends after it opens. The request line determines which service
   * receives it.
   */
  createFirstText: (index: number) => string;
  /** The text that the socket then sends repeatedly, and the interval. */
  followUp?: { everyMs: number; text: string };
  readMode: "all" | "one byte per second" | "nothing";
};

const openedPerSecond = 500;
const tickMs = 50;

const statusLine = /HTTP\/1\.1 (\d{3}) /g;

/** Keeps sockets open. Replaces each socket that the product closes. */
export const holdSockets = (
  { counts, signal, target }: AttackRun,
  { createFirstText, followUp, readMode, ...options }: HoldOptions,
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
  const openSocket = (index: number): void => {
    const localAddress = addresses[index % addresses.length] ?? "127.0.0.1";
    const onread = readMode === "one byte per second" ? { onread: oneByte } : {};
    const text = createFirstText(index);
    const port = portFor(ports, text.split(" ", 2)[1] ?? "/");
    const socket = connect({ host: "127.0.0.1", port, localAddress, ...onread });
    if (readMode === "nothing") socket.pause();
    sockets.add(socket);
    counts.opened += 1;
    socket.write(text);
    socket.once("connect", () => {
      counts.held += 1;
      counts.heldMax = Math.max(counts.heldMax, counts.held);
      socket.once("close", () => {
        counts.held -= 1;
        if (!signal.aborted) counts.closed += 1;
      });
    });
    socket.on("error", (error: NodeJS.ErrnoException) => {
      if (!signal.aborted) increment(counts.errors, error.code ?? error.message);
    });
    socket.once("close", () => sockets.delete(socket));
    if (readMode !== "all") return;
    socket.on("data", (chunk: Buffer) => {
      counts.bytesRead += chunk.length;
      const statuses = chunk.toString("latin1").matchAll(statusLine);
      for (const [, status = ""] of statuses) increment(counts.responses, status);
    });
    // Closes the socket after the server has closed its side.
    socket.once("end", () => socket.destroy());
  };

  let openedCount = 0;
  const startedAtMs = performance.now();
  const openTimer = setInterval(() => {
    const dueCount = ((performance.now() - startedAtMs) / 1_000) * openedPerSecond;
    while (openedCount < dueCount) {
      openedCount += 1;
      if (sockets.size < count) openSocket(openedCount);
    }
  }, tickMs);
  const writeTimer = setInterval(() => {
    for (const socket of sockets) if (!socket.connecting) socket.write(followUp?.text ?? "");
  }, followUp?.everyMs ?? 3_600_000);
  const readTimer = setInterval(() => {
    if (readMode === "one byte per second") for (const socket of sockets) socket.resume();
  }, 1_000);
  signal.addEventListener("abort", () => {
    for (const timer of [openTimer, writeTimer, readTimer]) clearInterval(timer);
    for (const socket of sockets) socket.destroy();
  });
};
