/** The start of the final response to a request. */
export type ResponseStart = {
  /** 200 or above. */
  status: number;
  /** False if an informational response was malformed or arrived in pieces. */
  isWellFormed: boolean;
};

const emptyBuffer: Buffer = Buffer.alloc(0);
const statusLinePattern = /HTTP\/\d\.\d (\d{3})[ \r\n]/y;
const sampleStatusLine = "HTTP/1.1 200 ";
const emptyLinesPattern = /[\r\n]*/y;

/**
 * Matches a complete informational response after which all parsers agree on where the next
 * response starts.
 */
const wellFormedHeadPattern =
  /[^\r\n]*\r\n(?:(?!content-length|transfer-encoding)[\w-]+:[^\r\n]*\r\n)*\r\n/iy;
const headEndPattern = /\n\r?\n/g;
/**
 * The number of bytes before a chunk that can belong to a match of `headEndPattern` that ends in
 * the chunk.
 */
const headEndOverlap = 2;

/** A 101 (Switching Protocols) is not skipped, because the bytes after it are not HTTP. */
const isSkipped = (status: number): boolean => status >= 100 && status < 200 && status !== 101;

const execAt = (pattern: RegExp, text: string, position: number): RegExpExecArray | null => {
  pattern.lastIndex = position;
  return pattern.exec(text);
};

/**
 * Returns a function that takes the chunks of one response and returns the bytes for the HTTP
 * parser. It removes empty lines and informational responses (1xx) before the final response, no
 * matter what their headers say. It buffers a status line that arrives in pieces. It calls
 * `onResponseStart` at the final status line, before the rest is parsed (rule HOOK-19). Bytes that
 * do not start a status line pass unchanged.
 */
export const createFinalResponseFilter = (
  onResponseStart: (responseStart: ResponseStart) => void,
): ((chunk: Buffer) => Buffer) => {
  let heldBytes = emptyBuffer;
  let isPassing = false;
  let isInsideHead = false;
  let isWellFormed = true;

  return (chunk) => {
    if (isPassing) return chunk;
    const bytes = heldBytes.length === 0 ? chunk : Buffer.concat([heldBytes, chunk]);
    const text = bytes.toString("latin1");
    let position = 0;
    for (;;) {
      if (isInsideHead) {
        const end = execAt(headEndPattern, text, position);
        if (end === null) {
          isWellFormed = false;
          heldBytes = bytes.subarray(Math.max(position, bytes.length - headEndOverlap));
          return emptyBuffer;
        }
        position = headEndPattern.lastIndex;
        isInsideHead = false;
      }
      position += execAt(emptyLinesPattern, text, position)?.[0].length ?? 0;
      const [line, code] = execAt(statusLinePattern, text, position) ?? [];
      if (line === undefined && isPartialStatusLine(text.slice(position))) {
        heldBytes = bytes.subarray(position);
        return emptyBuffer;
      }
      const status = Number(code);
      if (!isSkipped(status)) {
        isPassing = true;
        if (status >= 200) onResponseStart({ status, isWellFormed });
        return bytes.subarray(position);
      }
      isWellFormed &&= execAt(wellFormedHeadPattern, text, position) !== null;
      isInsideHead = true;
      // The character after the code can be the start of the end of the head.
      position += sampleStatusLine.length - 1;
    }
  };
};

/** Returns whether the text can become a status line when more bytes arrive. */
const isPartialStatusLine = (text: string): boolean =>
  text.length < sampleStatusLine.length &&
  execAt(statusLinePattern, text + sampleStatusLine.slice(text.length), 0) !== null;
