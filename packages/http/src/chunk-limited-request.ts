import { IncomingMessage } from "node:http";
import type { Socket } from "node:net";

/** A body can have this many chunks, and another one for each `bytesPerChunk` of its size. */
const chunksMax = 1_000;
const bytesPerChunk = 512;

/**
 * Creates the class of a server's requests. It calls `onTooManyChunks` once if a body arrives in too
 * many chunks, and drops the rest of that body. Each chunk takes about 300 bytes and 2 µs, even if it
 * contains only one byte, so 64 KiB of body could take 20 MB and 130 ms.
 */
export const createRequestClass = (onTooManyChunks: (req: IncomingMessage) => void) =>
  class ChunkLimitedRequest extends IncomingMessage {
    constructor(socket: Socket) {
      super(socket);
      let chunkCount = 0;
      let byteCount = 0;
      let hasTooManyChunks = false;
      const push = this.push.bind(this);
      // An own property, because Express replaces the prototype of a request.
      this.push = (chunk: Buffer | null, encoding?: BufferEncoding): boolean => {
        if (hasTooManyChunks) return false;
        if (chunk === null) return push(chunk);
        chunkCount += 1;
        byteCount += chunk.length;
        if (chunkCount <= chunksMax + byteCount / bytesPerChunk) return push(chunk, encoding);
        hasTooManyChunks = true;
        onTooManyChunks(this);
        return false;
      };
    }
  };
