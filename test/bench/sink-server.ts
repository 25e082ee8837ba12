import { createServer } from "node:http";

// Answers every POST with 200 and reads no more of it than it must. `GET /count` tells how many came.
let count = 0;
const server = createServer((req, res) => {
  if (req.method === "GET") return void res.end(String(count));
  req.resume();
  req.on("end", () => {
    count += 1;
    res.end();
  });
});
server.keepAliveTimeout = 60_000;
server.listen(Number(process.env["PORT"]), "127.0.0.1", () => {
  process.stdout.write("listening\n");
});
process.on("SIGTERM", () => process.exit(0));
