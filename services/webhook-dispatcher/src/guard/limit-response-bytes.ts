import type { Socket } from "node:net";
import { type buildConnector, errors } from "undici";
import { type ResponseStart, createFinalResponseFilter } from "./final-response-filter.ts";

/**
 * Returns a connector whose sockets read only slightly more than `responseBytesMax` bytes of a
 * response. A limit is needed because undici limits only headers and bodies: chunk extensions,
 * empty lines and informational responses could go on forever. Undici receives only the final
 * response. `onResponseStart` is called at its status line, even if undici then rejects the rest.
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

/** Replaces `read`, the only method by which undici takes bytes from a socket. */
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
      // A socket serves one request at a time. Everything that is read before the next request is
      // sent belongs to the response.
      if (socket.bytesWritten !== sentBytes) {
        sentBytes = socket.bytesWritten;
        responseStartsAt = chunkStartsAt;
        filter = createFinalResponseFilter(onResponseStart);
      }
      // Counts only bytes before this chunk, because the chunk may contain the status.
      if (chunkStartsAt - responseStartsAt > responseBytesMax) {
        socket.destroy(new errors.ResponseExceededMaxSizeError());
        return null;
      }
      const passedBytes = filter(chunk);
      if (passedBytes.length > 0) return passedBytes;
    }
  };
};
