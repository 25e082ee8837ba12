import { type IncomingHttpHeaders, request } from "node:http";

/** One block of an event stream: its fields, by name. */
export type StreamEvent = Readonly<Record<string, string>>;

/** An event stream as its reader has it so far. */
export type Followed = {
  status: number;
  headers: IncomingHttpHeaders;
  events: StreamEvent[];
  commentCount: () => number;
  /** How it ended: in order, or cut off; undefined while it goes on. */
  ended: () => "whole" | "cut" | undefined;
  /** Reads nothing more, and leaves what comes to whoever sends it. */
  stopReading: () => void;
  close: () => void;
};

/** Opens an event stream; resolves once its head has come. What is refused has no events. */
export const followEvents = (
  url: string,
  { headers = {}, method = "GET" }: { headers?: Record<string, string>; method?: string } = {},
): Promise<Followed> =>
  new Promise((resolve, reject) => {
    const sent = request(url, { agent: false, headers, method }, (answer) => {
      const events: StreamEvent[] = [];
      let text = "";
      let commentCount = 0;
      let ended: "whole" | "cut" | undefined;
      answer.setEncoding("utf8");
      answer.on("data", (chunk: string) => {
        const blocks = (text + chunk).split("\n\n");
        text = blocks.pop() ?? "";
        for (const block of blocks) {
          if (block.startsWith(":")) commentCount += 1;
          else events.push(fieldsOf(block));
        }
      });
      answer.on("end", () => (ended = "whole"));
      answer.on("error", () => (ended = "cut"));
      resolve({
        status: answer.statusCode ?? 0,
        headers: answer.headers,
        events,
        commentCount: () => commentCount,
        ended: () => ended,
        stopReading: () => void answer.pause(),
        close: () => void answer.destroy(),
      });
    });
    sent.on("error", reject);
    sent.end();
  });

const fieldsOf = (block: string): StreamEvent =>
  Object.fromEntries(
    block.split("\n").map((line) => {
      const at = line.indexOf(": ");
      return [line.slice(0, at), line.slice(at + 2)];
    }),
  );
