/** How the final answer to a request begins. */
export type AnswerStart = {
  /** From 200 up. */
  status: number;
  /** False after an informational answer that breaks HTTP's grammar or arrived in pieces. */
  isWellFormed: boolean;
};

const nothing: Buffer = Buffer.alloc(0);
const statusLine = /HTTP\/\d\.\d (\d{3})[ \r\n]/y;
const usualStatusLine = "HTTP/1.1 200 ";
const emptyLines = /[\r\n]*/y;

/** A whole informational answer behind which two readers agree on where the next answer begins. */
const wellFormedHead =
  /[^\r\n]*\r\n(?:(?!content-length|transfer-encoding)[\w-]+:[^\r\n]*\r\n)*\r\n/iy;
const headEnd = /\n\r?\n/g;
/** Bytes before a chunk that may belong to a `headEnd` in it. */
const headEndOverlap = 2;

/** A 101 (Switching Protocols) is not skipped: no HTTP follows it. */
const isSkipped = (status: number): boolean => status >= 100 && status < 200 && status !== 101;

const execAt = (pattern: RegExp, text: string, at: number): RegExpExecArray | null => {
  pattern.lastIndex = at;
  return pattern.exec(text);
};

/**
 * Returns a function that takes the chunks of one answer and returns the bytes that the HTTP parser may
 * read. It drops empty lines and informational answers (1xx) in front of the final answer, whatever
 * their headers say, and holds back a status line that arrives in pieces. It calls `onStart` at the final
 * status line, before anything behind it is parsed (rule HOOK-19). Bytes that begin no status line pass.
 */
export const createAnswerFilter = (
  onStart: (start: AnswerStart) => void,
): ((chunk: Buffer) => Buffer) => {
  let held = nothing;
  let isPassing = false;
  let isInsideHead = false;
  let isWellFormed = true;

  return (chunk) => {
    if (isPassing) return chunk;
    const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    const text = bytes.toString("latin1");
    let at = 0;
    for (;;) {
      if (isInsideHead) {
        const end = execAt(headEnd, text, at);
        if (end === null) {
          isWellFormed = false;
          held = bytes.subarray(Math.max(at, bytes.length - headEndOverlap));
          return nothing;
        }
        at = headEnd.lastIndex;
        isInsideHead = false;
      }
      at += execAt(emptyLines, text, at)?.[0].length ?? 0;
      const [line, code] = execAt(statusLine, text, at) ?? [];
      if (line === undefined && isBeginning(text.slice(at))) {
        held = bytes.subarray(at);
        return nothing;
      }
      const status = Number(code);
      if (!isSkipped(status)) {
        isPassing = true;
        if (status >= 200) onStart({ status, isWellFormed });
        return bytes.subarray(at);
      }
      isWellFormed &&= execAt(wellFormedHead, text, at) !== null;
      isInsideHead = true;
      // The character behind the code may begin the end of the head.
      at += usualStatusLine.length - 1;
    }
  };
};

/** Whether the text can become a status line once more of it arrives. */
const isBeginning = (text: string): boolean =>
  text.length < usualStatusLine.length &&
  execAt(statusLine, text + usualStatusLine.slice(text.length), 0) !== null;
