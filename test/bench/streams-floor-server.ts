import { type ServerResponse, createServer } from "node:http";

// The minimal server that keeps event streams open. It sends response headers, one event of the
// requested size, and a comment at regular intervals. Like the product, it ends all streams within
// five seconds and asks each reader to retry after 1 to 3 s.
const { env } = process;
const streams = new Set<ServerResponse>();
const data = JSON.stringify("x".repeat(Number(env["STATE_BYTES"])));

const server = createServer((_req, res) => {
  res.writeHead(200, {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-store",
    Connection: "close",
  });
  const retryMs = Math.round(1_000 + Math.random() * 2_000);
  res.write(`retry: ${retryMs}\nid: 1\nevent: state\ndata: ${data}\n\n`);
  streams.add(res);
  res.once("close", () => streams.delete(res));
});
setInterval(() => {
  for (const res of streams) res.write(":\n\n");
}, 15_000);
server.listen(Number(env["PORT"]), "127.0.0.1", () => process.stdout.write("listening\n"));
process.on("SIGTERM", () => {
  server.close(() => process.exit(0));
  const closingStreams = [...streams];
  const streamsPerTick = Math.ceil(closingStreams.length / 50);
  setInterval(() => {
    for (const res of closingStreams.splice(0, streamsPerTick)) res.end();
  }, 100);
});
