import { type IncomingHttpHeaders, request } from "node:http";

/** One event of a stream: its fields by name. */
export type StreamEvent = Readonly<Record<string, string>>;

/** An event stream and what it has received so far. */
export type EventStream = {
  status: number;
  headers: IncomingHttpHeaders;
  events: StreamEvent[];
  commentCount: () => number;
  /** Returns how the stream ended: completely or cut off. Undefined while the stream is open. */
  endReason: () => "whole" | "cut" | undefined;
  /** Stops reading, so that data accumulates at the sender. */
  stopReading: () => void;
  close: () => void;
};

/**
 * Opens an event stream. Resolves once the response's headers have arrived. An error response has
 * no events.
 */
export const openEventStream = (
  url: string,
  { headers = {}, method = "GET" }: { headers?: Record<string, string>; method?: string } = {},
): Promise<EventStream> =>
  new Promise((resolve, reject) => {
    const clientRequest = request(url, { agent: false, headers, method }, (response) => {
      const events: StreamEvent[] = [];
      let bufferedText = "";
      let commentCount = 0;
      let endReason: "whole" | "cut" | undefined;
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        const blocks = (bufferedText + chunk).split("\n\n");
        bufferedText = blocks.pop() ?? "";
        for (const block of blocks) {
          if (block.startsWith(":")) commentCount += 1;
          else events.push(parseFields(block));
        }
      });
      response.on("end", () => (endReason = "whole"));
      response.on("error", () => (endReason = "cut"));
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        events,
        commentCount: () => commentCount,
        endReason: () => endReason,
        stopReading: () => void response.pause(),
        close: () => void response.destroy(),
      });
    });
    clientRequest.on("error", reject);
    clientRequest.end();
  });

const parseFields = (block: string): StreamEvent =>
  Object.fromEntries(
    block.split("\n").map((line) => {
      const separatorIndex = line.indexOf(": ");
      return [line.slice(0, separatorIndex), line.slice(separatorIndex + 2)];
    }),
  );
