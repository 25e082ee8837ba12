import { describe, expect, test } from "@jest/globals";
import { type AnswerStart, createAnswerFilter } from "./final-answer.ts";

/** Passes the chunks through one filter; returns what is left of them and the starts it reported. */
const filter = (chunks: readonly string[]): { passed: string; starts: AnswerStart[] } => {
  const starts: AnswerStart[] = [];
  const take = createAnswerFilter((start) => starts.push(start));
  const passed = chunks.map((chunk) => take(Buffer.from(chunk, "latin1")).toString("latin1"));
  return { passed: passed.join(""), starts };
};

const final = "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n";
const before = {
  nothing: "",
  "empty lines": "\r\n\n\r\n",
  "a 100": "HTTP/1.1 100 Continue\r\n\r\n",
  "several with headers": `HTTP/1.1 100 \r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n`,
  "bare LFs": "HTTP/1.1 100\n\nHTTP/1.1 102 Processing\nX-Note: a\n\n",
  "mixed line ends": "HTTP/1.1 100\r\n\nHTTP/1.1 102\n\r\n",
  "malformed headers": "HTTP/1.0 199 \0\r\n folded\r\nContent-Length: 1\r\nX Note\r\n\r\n",
  "a header like a status line": "HTTP/1.1 103 Hints\r\nHTTP/1.1 200 OK\r\n\r\n",
};

describe("the final answer is found behind", () => {
  test.each(Object.entries(before))("%s, however it is cut (rule HOOK-19)", (_name, start) => {
    const bytes = start + final;
    const cuts = Array.from(bytes, (_, at) => [bytes.slice(0, at), bytes.slice(at)]);
    for (const chunks of [[bytes], [...bytes], ...cuts]) {
      const { passed, starts } = filter(chunks);
      expect([passed, starts.map(({ status }) => status)]).toEqual([final, [204]]);
    }
  });
});

test("only a whole and well-formed informational answer lets its connection be used again", () => {
  const isWellFormed = (...chunks: string[]) => filter(chunks).starts[0]?.isWellFormed;
  expect(isWellFormed(final)).toBe(true);
  expect(isWellFormed(final.slice(0, 5), final.slice(5))).toBe(true);
  expect(isWellFormed(before["several with headers"] + final)).toBe(true);
  expect(isWellFormed(before["a 100"], final)).toBe(true);
  expect(isWellFormed(before["a 100"].slice(0, -1), `\n${final}`)).toBe(false);
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
    expect([head, isWellFormed(head + final)]).toEqual([head, false]);
  }
});

test.each([
  ["garbage", "SSH-2.0-OpenSSH_9.9\r\n\r\n"],
  ["another protocol's version", "HTTP/x.1 200 OK\r\n\r\n"],
  ["no space", "HTTP/1.1200 OK\r\n\r\n"],
  ["two spaces", "HTTP/1.1  200 OK\r\n\r\n"],
  ["four digits", "HTTP/1.1 2000 OK\r\n\r\n"],
  ["two digits", "HTTP/1.1 20 OK\r\n\r\n"],
  ["a body behind a 103", "HTTP/1.1 103 Hints\r\n\r\nhello, HTTP/1.1 200 OK\r\n\r\n"],
  ["a change of protocol", "HTTP/1.1 101 Switching\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"],
])("what begins no final answer reports no status and passes as it is: %s", (_name, bytes) => {
  const { passed, starts } = filter([...bytes]);
  expect(starts).toEqual([]);
  expect(bytes.endsWith(passed) && passed.length > 0).toBe(true);
});

test("a status that is not whole yet reports nothing", () => {
  expect(filter(["HTTP/1.1 200"])).toEqual({ passed: "", starts: [] });
  expect(filter(["HTTP/1.1 200", " "]).starts).toHaveLength(1);
});
