import type { Socket } from "node:net";
import { type buildConnector, errors } from "undici";
import { type AnswerStart, createAnswerFilter } from "./final-answer.ts";

/**
 * Makes a connector whose sockets read little more than that many bytes of an answer, whatever they say.
 * Undici bounds headers and bodies alone: chunk extensions, empty lines and informational answers may go
 * on for as long as it listens. Undici reads the final answer only, and `onStart` is called at that
 * answer's status line, even if undici then rejects what follows.
 */
export const boundAnswers =
  (
    connect: buildConnector.connector,
    answerBytesMax: number,
    onStart: (start: AnswerStart) => void = () => {},
  ): buildConnector.connector =>
  (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error !== null) return callback(error, null);
      filterReads(socket, answerBytesMax, onStart);
      return callback(null, socket);
    });

/** Replaces `read`, the one method through which undici takes bytes from a socket. */
const filterReads = (
  socket: Socket,
  answerBytesMax: number,
  onStart: (start: AnswerStart) => void,
): void => {
  const read: (size?: number) => Buffer | null = socket.read.bind(socket);
  let sentBytes = socket.bytesWritten;
  let answerBeginsAt = 0;
  let filter = (chunk: Buffer): Buffer => chunk;
  socket.read = (size?: number): Buffer | null => {
    for (;;) {
      const chunk = read(size);
      if (chunk === null) return null;
      const chunkBeginsAt = socket.bytesRead - chunk.length;
      // One request at a time: what follows it, until the next is sent, is its answer.
      if (socket.bytesWritten !== sentBytes) {
        sentBytes = socket.bytesWritten;
        answerBeginsAt = chunkBeginsAt;
        filter = createAnswerFilter(onStart);
      }
      // Only what came before counts: a status that is in this chunk is still to be read.
      if (chunkBeginsAt - answerBeginsAt > answerBytesMax) {
        socket.destroy(new errors.ResponseExceededMaxSizeError());
        return null;
      }
      const passed = filter(chunk);
      if (passed.length > 0) return passed;
    }
  };
};
