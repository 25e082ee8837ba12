import { type Socket, connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { waitUntil } from "@payment-links/runtime/testing";

const concurrentReaders = 50;
const waitMsMax = 120_000;

/** A reader that follows an event stream like a browser and reconnects when its stream ends. */
type StreamReader = {
  path: string;
  socket: Socket | undefined;
  portIndex: number;
  data: string;
  dataAtMs: number;
  id: string;
  retryMs: number;
  /** The retry delay that the previous stream requested. */
  requestedRetryMs: number;
  endedAtMs: number;
  /** The time from the end of a stream to the first event of the next one. */
  awayMs: number;
  /** How much longer that time was than the requested retry delay. */
  lateMs: number;
};

/**
 * Opens streams on the first of the given ports. The readers reconnect after the delay that their
 * stream requested. If a port refuses the connection, the reader immediately tries the next port,
 * as a load balancer would.
 */
export const connectReaders = async (ports: readonly number[], paths: readonly string[]) => {
  let isClosing = false;

  const connectReader = (reader: StreamReader): void => {
    const port = ports[reader.portIndex % ports.length] ?? 0;
    const socket = connect(port, "127.0.0.1");
    let text = "";
    reader.socket = socket;
    socket.on("connect", () => {
      const lastEventIdHeader = reader.id === "" ? "" : `Last-Event-ID: ${reader.id}\r\n`;
      socket.write(`GET ${reader.path} HTTP/1.1\r\nHost: bench\r\n${lastEventIdHeader}\r\n`);
    });
    socket.on("data", (chunk: Buffer) => {
      const blocks = (text + chunk.toString("latin1")).split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) applyBlock(reader, block);
    });
    let isConnectionRefused = false;
    socket.on("error", (error: NodeJS.ErrnoException) => {
      isConnectionRefused = error.code === "ECONNREFUSED";
    });
    socket.on("close", () => {
      if (isClosing) return;
      if (isConnectionRefused) {
        reader.portIndex += 1;
        connectReader(reader);
        return;
      }
      if (reader.endedAtMs === 0) {
        reader.endedAtMs = performance.now();
        reader.requestedRetryMs = reader.retryMs;
      }
      setTimeout(() => connectReader(reader), reader.retryMs);
    });
  };

  const readers = paths.map((path): StreamReader => ({
    path,
    socket: undefined,
    portIndex: 0,
    data: "",
    dataAtMs: 0,
    id: "",
    retryMs: 1_000,
    requestedRetryMs: 0,
    endedAtMs: 0,
    awayMs: 0,
    lateMs: 0,
  }));
  for (let offset = 0; offset < readers.length; offset += concurrentReaders) {
    const batch = readers.slice(offset, offset + concurrentReaders);
    for (const reader of batch) connectReader(reader);
    await waitUntil(
      "all readers have received data",
      () => batch.every(({ data }) => data !== ""),
      waitMsMax,
    );
  }
  return {
    readers,
    /**
     * Waits until all readers have received the text. Returns the time at which each of them
     * received it.
     */
    waitUntilAllReceive: async (expectedText: string): Promise<number[]> => {
      const startedAt = performance.now();
      let notYetReceived = readers;
      while (notYetReceived.length > 0) {
        if (performance.now() - startedAt > waitMsMax) {
          throw new Error(
            `${notYetReceived.length} of ${readers.length} never received ${expectedText}`,
          );
        }
        await sleep(20);
        notYetReceived = notYetReceived.filter(({ data }) => !data.includes(expectedText));
      }
      return readers.map(({ dataAtMs }) => dataAtMs);
    },
    /** Waits until each stream has ended and its reader has received an event from a new stream. */
    waitUntilAllMoved: () =>
      waitUntil(
        () =>
          `${readers.filter(({ awayMs }) => awayMs === 0).length} readers have not moved to another stream`,
        () => readers.every(({ awayMs, endedAtMs }) => awayMs > 0 && endedAtMs === 0),
        waitMsMax,
      ),
    close: () => {
      isClosing = true;
      for (const { socket } of readers) socket?.destroy();
    },
  };
};

const applyBlock = (reader: StreamReader, block: string): void => {
  const readField = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1];
  reader.retryMs = Number(readField("retry") ?? reader.retryMs);
  reader.id = readField("id") ?? reader.id;
  if (reader.endedAtMs > 0) {
    reader.awayMs = performance.now() - reader.endedAtMs;
    reader.lateMs = reader.awayMs - reader.requestedRetryMs;
    reader.endedAtMs = 0;
  }
  const data = readField("data");
  if (data === undefined) return;
  reader.data = data;
  reader.dataAtMs = performance.now();
};
