import type { Socket } from "node:net";
import { type buildConnector, errors } from "undici";
import { type ResponseStart, createFinalResponseFilter } from "./final-response-filter.ts";

/**
 * Makes a connector whose sockets read little more than that many bytes of an answer, whatever they say.
 * Undici bounds headers and bodies alone: chunk extensions, empty lines and informational answers may go
 * on for as long as it listens. Undici reads the final answer only, and `onStart` is called at that
 * answer's status line, even if undici then rejects what follows.
 */
export const limitResponseBytes =
  (
    connect: buildConnector.connector,
    responseBytesMax: number,
    onResponseStart: (responseStart: ResponseStart) => void = () => {},
  ): buildConnector.connector =>
  (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error !== null) return callback(error, null);
      filterReads(socket, responseBytesMax, onResponseStart);
      return callback(null, socket);
    });

/** Replaces `read`, the one method through which undici takes bytes from a socket. */
const filterReads = (
  socket: Socket,
  responseBytesMax: number,
  onResponseStart: (responseStart: ResponseStart) => void,
): void => {
  const read: (size?: number) => Buffer | null = socket.read.bind(socket);
  let sentBytes = socket.bytesWritten;
  let responseStartsAt = 0;
  let filter = (chunk: Buffer): Buffer => chunk;
  socket.read = (size?: number): Buffer | null => {
    for (;;) {
      const chunk = read(size);
      if (chunk === null) return null;
      const chunkStartsAt = socket.bytesRead - chunk.length;
      // One request at a time: what follows it, until the next is sent, is its answer.
      if (socket.bytesWritten !== sentBytes) {
        sentBytes = socket.bytesWritten;
        responseStartsAt = chunkStartsAt;
        filter = createFinalResponseFilter(onResponseStart);
      }
      // Only what came before counts: a status that is in this chunk is still to be read.
      if (chunkStartsAt - responseStartsAt > responseBytesMax) {
        socket.destroy(new errors.ResponseExceededMaxSizeError());
        return null;
      }
      const passedBytes = filter(chunk);
      if (passedBytes.length > 0) return passedBytes;
    }
  };
};
