/** An event of a stream (HTML Standard, server-sent events). */
export type StreamEvent = { id: string; name: string; data: string };

/** More than any webhook has. */
const eventCharsMax = 1024 * 1024;

/**
 * Parses the events of a stream. Yields undefined for data that completes no event, such as a
 * comment, so that the caller knows that the stream is alive. An incomplete event at the end is
 * discarded. Throws if an event is too long.
 */
export async function* parseEventStream(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<StreamEvent | undefined, void, undefined> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of body) {
    text += decoder.decode(bytes, { stream: true });
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    if (text.length > eventCharsMax) throw new Error("The service sent an event that is too long.");
    for (const block of blocks) yield parseBlock(block);
    yield undefined;
  }
}

const parseBlock = (block: string): StreamEvent | undefined => {
  const fields = new Map(
    block.split("\n").map((line) => {
      const separatorIndex = line.indexOf(":");
      return [line.slice(0, separatorIndex), line.slice(separatorIndex + 1).trimStart()];
    }),
  );
  const data = fields.get("data");
  if (data === undefined) return undefined;
  return { id: fields.get("id") ?? "", name: fields.get("event") ?? "message", data };
};
