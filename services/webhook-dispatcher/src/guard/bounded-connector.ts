import type { Socket } from "node:net";
import { type buildConnector, errors } from "undici";

/**
 * Makes a connector whose sockets read little more than that many bytes of an answer, whatever they say.
 * Undici bounds headers and bodies alone: chunk extensions, empty lines and informational answers may go
 * on for as long as it listens.
 */
export const boundAnswers =
  (connect: buildConnector.connector, answerBytesMax: number): buildConnector.connector =>
  (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error !== null) return callback(error, null);
      callback(null, socket);
      // Now that undici reads the socket, another listener does not set it flowing.
      return bound(socket, answerBytesMax);
    });

const bound = (socket: Socket, answerBytesMax: number): void => {
  let sentBytes = 0;
  let answerBeginsAt = 0;
  socket.on("data", (chunk: Buffer) => {
    const chunkBeginsAt = socket.bytesRead - chunk.length;
    // One request at a time: what follows it, until the next is sent, is its answer.
    if (socket.bytesWritten !== sentBytes) {
      sentBytes = socket.bytesWritten;
      answerBeginsAt = chunkBeginsAt;
    }
    // Only what came before counts: a status that is in this chunk is still to be read.
    if (chunkBeginsAt - answerBeginsAt > answerBytesMax) {
      socket.destroy(new errors.ResponseExceededMaxSizeError());
    }
  });
};
