import { type Socket, connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { waitUntil } from "@payment-links/runtime/testing";

const readersAtOnce = 50;
const waitMsMax = 120_000;

/** Somebody who follows an address as a browser does, and comes again where their stream ended. */
type Reader = {
  path: string;
  socket: Socket | undefined;
  portIndex: number;
  data: string;
  dataAtMs: number;
  id: string;
  retryMs: number;
  /** The wait that the stream which ended had asked for. */
  askedMs: number;
  endedAtMs: number;
  /** How long it took from the end of a stream until the next one spoke. */
  awayMs: number;
  /** How much of it was more than the wait that the ended stream had asked for. */
  lateMs: number;
};

/**
 * Opens streams on the first of some ports. Their readers come again after the time that they were told.
 * Where a port takes nobody they are on the next one at once, as a balancer would lead them.
 */
export const openReaders = async (ports: readonly number[], paths: readonly string[]) => {
  let isClosing = false;

  const open = (reader: Reader): void => {
    const port = ports[reader.portIndex % ports.length] ?? 0;
    const socket = connect(port, "127.0.0.1");
    let text = "";
    reader.socket = socket;
    socket.on("connect", () => {
      const known = reader.id === "" ? "" : `Last-Event-ID: ${reader.id}\r\n`;
      socket.write(`GET ${reader.path} HTTP/1.1\r\nHost: bench\r\n${known}\r\n`);
    });
    socket.on("data", (chunk: Buffer) => {
      const blocks = (text + chunk.toString("latin1")).split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) take(reader, block);
    });
    let isRefused = false;
    socket.on("error", (error: NodeJS.ErrnoException) => {
      isRefused = error.code === "ECONNREFUSED";
    });
    socket.on("close", () => {
      if (isClosing) return;
      if (isRefused) {
        reader.portIndex += 1;
        open(reader);
        return;
      }
      if (reader.endedAtMs === 0) {
        reader.endedAtMs = performance.now();
        reader.askedMs = reader.retryMs;
      }
      setTimeout(() => open(reader), reader.retryMs);
    });
  };

  const readers = paths.map((path): Reader => ({
    path,
    socket: undefined,
    portIndex: 0,
    data: "",
    dataAtMs: 0,
    id: "",
    retryMs: 1_000,
    askedMs: 0,
    endedAtMs: 0,
    awayMs: 0,
    lateMs: 0,
  }));
  for (let at = 0; at < readers.length; at += readersAtOnce) {
    const some = readers.slice(at, at + readersAtOnce);
    for (const reader of some) open(reader);
    await waitUntil("they hear", () => some.every(({ data }) => data !== ""), waitMsMax);
  }
  return {
    readers,
    /** Waits until all have heard something; answers when each of them heard it. */
    untilAllHear: async (wanted: string): Promise<number[]> => {
      const startedAt = performance.now();
      let missing = readers;
      while (missing.length > 0) {
        if (performance.now() - startedAt > waitMsMax) {
          throw new Error(`${missing.length} of ${readers.length} never heard ${wanted}`);
        }
        await sleep(20);
        missing = missing.filter(({ data }) => !data.includes(wanted));
      }
      return readers.map(({ dataAtMs }) => dataAtMs);
    },
    /** Waits until each stream has ended and its reader hears another. */
    untilAllMoved: () =>
      waitUntil(
        () => `${readers.filter(({ awayMs }) => awayMs === 0).length} of them move`,
        () => readers.every(({ awayMs, endedAtMs }) => awayMs > 0 && endedAtMs === 0),
        waitMsMax,
      ),
    close: () => {
      isClosing = true;
      for (const { socket } of readers) socket?.destroy();
    },
  };
};

const take = (reader: Reader, block: string): void => {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1];
  reader.retryMs = Number(field("retry") ?? reader.retryMs);
  reader.id = field("id") ?? reader.id;
  if (reader.endedAtMs > 0) {
    reader.awayMs = performance.now() - reader.endedAtMs;
    reader.lateMs = reader.awayMs - reader.askedMs;
    reader.endedAtMs = 0;
  }
  const data = field("data");
  if (data === undefined) return;
  reader.data = data;
  reader.dataAtMs = performance.now();
};
