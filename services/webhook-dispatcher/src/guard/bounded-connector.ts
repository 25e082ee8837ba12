import type { Socket } from "node:net";
import { type buildConnector, errors } from "undici";

/**
 * Makes a connector whose sockets read little more than that many bytes of an answer, whatever they say.
 * Undici bounds headers and bodies alone: chunk extensions, empty lines and informational answers may go
 * on for as long as it listens. An answer may begin with 100 (Continue), at which undici would hang up.
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
  let mayContinue = false;
  socket.on("data", (chunk: Buffer) => {
    const chunkBeginsAt = socket.bytesRead - chunk.length;
    // One request at a time: what follows it, until the next is sent, is its answer.
    if (socket.bytesWritten !== sentBytes) {
      sentBytes = socket.bytesWritten;
      answerBeginsAt = chunkBeginsAt;
      mayContinue = true;
    }
    if (mayContinue) mayContinue = maskContinue(chunk);
    // Only what came before counts: a status that is in this chunk is still to be read.
    if (chunkBeginsAt - answerBeginsAt > answerBytesMax) {
      socket.destroy(new errors.ResponseExceededMaxSizeError());
    }
  });
};

const [continueLine, headEnd] = ["HTTP/1.1 100", "\r\n\r\n"];
const [digitAt, digitOfProcessing] = [continueLine.length - 1, "2".charCodeAt(0)];

/**
 * Makes each 100 (Continue) with which a chunk begins a 102 (Processing), which undici passes over as any
 * client should (RFC 9110, section 15.2); answers whether the chunk has nothing else. A digit is changed and
 * nothing moved, so a head may end in another chunk. One whose status line is torn still fails.
 */
const maskContinue = (chunk: Buffer): boolean => {
  let at = 0;
  while (chunk.toString("latin1", at, at + continueLine.length) === continueLine) {
    chunk[at + digitAt] = digitOfProcessing;
    const endsAt = chunk.indexOf(headEnd, at);
    if (endsAt === -1) return true;
    at = endsAt + headEnd.length;
  }
  return at === chunk.length;
};
