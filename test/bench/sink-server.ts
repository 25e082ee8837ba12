import { type RequestListener, createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";

// Responds to every POST request with 200 and does as little work as possible, on a port without
// TLS and on one with TLS. `GET /count` returns the number of received POST requests.
const { PORT: port, TLS_PORT: tlsPort, TLS_CERT: cert, TLS_KEY: key } = process.env;
const idleMsMax = 60_000;
let count = 0;
const handleRequest: RequestListener = (req, res) => {
  if (req.method === "GET") return void res.end(String(count));
  req.resume();
  req.on("end", () => {
    count += 1;
    res.end();
  });
};

const listen = (server: ReturnType<typeof createServer>, port: number) => {
  server.keepAliveTimeout = idleMsMax;
  return new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
};

await listen(createServer(handleRequest), Number(port));
await listen(createTlsServer({ cert, key }, handleRequest), Number(tlsPort));
process.stdout.write("listening\n");
process.on("SIGTERM", () => process.exit(0));
