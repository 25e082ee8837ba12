import { describe, expect, test } from "@jest/globals";
import { type ResponseStart, createFinalResponseFilter } from "./final-response-filter.ts";

/** Passes chunks through one filter. Returns the remaining bytes and the reported response starts. */
const filterChunks = (
  chunks: readonly string[],
): { passed: string; responseStarts: ResponseStart[] } => {
  const responseStarts: ResponseStart[] = [];
  const passChunk = createFinalResponseFilter((responseStart) =>
    responseStarts.push(responseStart),
  );
  const passedChunks = chunks.map((chunk) =>
    passChunk(Buffer.from(chunk, "latin1")).toString("latin1"),
  );
  return { passed: passedChunks.join(""), responseStarts };
};

const finalResponse = "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n";
const prefixes = {
  nothing: "",
  "empty lines": "\r\n\n\r\n",
  "a 100": "HTTP/1.1 100 Continue\r\n\r\n",
  "several with headers": `HTTP/1.1 100 \r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n`,
  "bare LFs": "HTTP/1.1 100\n\nHTTP/1.1 102 Processing\nX-Note: a\n\n",
  "mixed line ends": "HTTP/1.1 100\r\n\nHTTP/1.1 102\n\r\n",
  "malformed headers": "HTTP/1.0 199 \0\r\n folded\r\nContent-Length: 1\r\nX Note\r\n\r\n",
  "a header like a status line": "HTTP/1.1 103 Hints\r\nHTTP/1.1 200 OK\r\n\r\n",
};

describe("the final response is found after", () => {
  test.each(Object.entries(prefixes))(
    "%s, for any chunk boundaries (rule HOOK-19)",
    (_name, prefix) => {
      const bytes = prefix + finalResponse;
      const cuts = Array.from(bytes, (_, position) => [
        bytes.slice(0, position),
        bytes.slice(position),
      ]);
      for (const chunks of [[bytes], [...bytes], ...cuts]) {
        const { passed, responseStarts } = filterChunks(chunks);
        expect([passed, responseStarts.map(({ status }) => status)]).toEqual([
          finalResponse,
          [204],
        ]);
      }
    },
  );
});

test("a connection is reused only after complete and well-formed informational responses", () => {
  const isWellFormed = (...chunks: string[]) =>
    filterChunks(chunks).responseStarts[0]?.isWellFormed;
  expect(isWellFormed(finalResponse)).toBe(true);
  expect(isWellFormed(finalResponse.slice(0, 5), finalResponse.slice(5))).toBe(true);
  expect(isWellFormed(prefixes["several with headers"] + finalResponse)).toBe(true);
  expect(isWellFormed(prefixes["a 100"], finalResponse)).toBe(true);
  expect(isWellFormed(prefixes["a 100"].slice(0, -1), `\n${finalResponse}`)).toBe(false);
  for (const head of [
    "HTTP/1.1 100 Continue\n\n",
    "HTTP/1.1 100 Continue\r\n\n",
    "HTTP/1.1 103 Hints\r\nX-Note: a\n\r\n",
    "HTTP/1.1 103 Hints\r\nX-Note: a\r\n b\r\n\r\n",
    "HTTP/1.1 103 Hints\r\nX Note: a\r\n\r\n",
    "HTTP/1.1 103 Hints\r\nX-Note : a\r\n\r\n",
    "HTTP/1.1 103 Hints\r\nContent-Length: 5\r\n\r\n",
    "HTTP/1.1 103 Hints\r\ntransfer-encoding: chunked\r\n\r\n",
  ]) {
    expect([head, isWellFormed(head + finalResponse)]).toEqual([head, false]);
  }
});

test.each([
  ["garbage", "SSH-2.0-OpenSSH_9.9\r\n\r\n"],
  ["another protocol's version", "HTTP/x.1 200 OK\r\n\r\n"],
  ["no space", "HTTP/1.1200 OK\r\n\r\n"],
  ["two spaces", "HTTP/1.1  200 OK\r\n\r\n"],
  ["four digits", "HTTP/1.1 2000 OK\r\n\r\n"],
  ["two digits", "HTTP/1.1 20 OK\r\n\r\n"],
  ["a body after a 103", "HTTP/1.1 103 Hints\r\n\r\nhello, HTTP/1.1 200 OK\r\n\r\n"],
  ["a switch of protocols", "HTTP/1.1 101 Switching\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"],
])("bytes that are no final response pass unchanged, without a status: %s", (_name, bytes) => {
  const { passed, responseStarts } = filterChunks([...bytes]);
  expect(responseStarts).toEqual([]);
  expect(bytes.endsWith(passed) && passed.length > 0).toBe(true);
});

test("an incomplete status line reports nothing", () => {
  expect(filterChunks(["HTTP/1.1 200"])).toEqual({ passed: "", responseStarts: [] });
  expect(filterChunks(["HTTP/1.1 200", " "]).responseStarts).toHaveLength(1);
});
