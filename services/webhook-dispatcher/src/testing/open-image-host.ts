import { type AddressInfo, type Socket, createServer } from "node:net";
import { gzipSync } from "node:zlib";

/** As much of a PNG as tells that it is one. */
export const png = Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1");

/** The largest image that is handed on. */
export const bytesMax = 1024 * 1024;

const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';

const head = (type: string, ...more: string[]): string =>
  ["HTTP/1.1 200 OK", `Content-Type: ${type}`, "Connection: close", ...more, "", ""].join("\r\n");
const redirectTo = (location: string) => (socket: Socket) =>
  void socket.end(`HTTP/1.1 302 Found\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`);
const sized = (size: number): Buffer => Buffer.concat([png, Buffer.alloc(size - png.length)]);

/** Writes again and again, as fast as the other side reads. */
const writeForEver = (socket: Socket, text = "\0"): void => {
  const chunk = text.repeat(64 * 1024);
  const write = (): void => {
    while (!socket.destroyed && socket.write(chunk)) continue;
    // Whoever takes so much takes all of it.
    if (socket.bytesWritten > 64 * bytesMax) socket.destroy();
  };
  socket.on("drain", write);
  write();
};
const bomb = gzipSync(sized(8 * bytesMax));

const behaviours: Record<string, (socket: Socket) => void> = {
  "/png": (socket) => socket.end(Buffer.concat([Buffer.from(head("text/html")), png])),
  "/continued": (socket) =>
    socket.end(Buffer.concat([Buffer.from(`HTTP/1.1 100 Continue\r\n\r\n${head("a/b")}`), png])),
  "/cookie": (socket) =>
    socket.end(Buffer.concat([Buffer.from(head("image/png", "Set-Cookie: a=b", "X-A: b")), png])),
  "/largest": (socket) => socket.end(Buffer.concat([Buffer.from(head("a/b")), sized(bytesMax)])),
  "/too-large": (socket) =>
    socket.end(Buffer.concat([Buffer.from(head("a/b")), sized(bytesMax + 1)])),
  "/says-too-large": (socket) =>
    void socket.write(head("image/png", `Content-Length: ${bytesMax + 1}`)),
  "/endless": (socket) => {
    socket.write(Buffer.concat([Buffer.from(head("image/png")), png]));
    writeForEver(socket);
  },
  "/endless-extension": (socket) => {
    socket.write(`${head("image/png", "Transfer-Encoding: chunked")}1;`);
    writeForEver(socket, "a");
  },
  "/svg.png": (socket) => socket.end(head("image/png") + svg),
  "/html.png": (socket) => socket.end(`${head("image/png")}<!doctype html><script>1</script>`),
  "/empty": (socket) => socket.end(head("image/png", "Content-Length: 0")),
  "/cut": (socket) =>
    socket.end(Buffer.concat([Buffer.from(head("image/png", "Content-Length: 99")), png])),
  "/bomb": (socket) => {
    socket.end(Buffer.concat([Buffer.from(head("image/png", "Content-Encoding: gzip")), bomb]));
  },
  "/missing": (socket) => socket.end("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"),
  "/garbage": (socket) => socket.end("SSH-2.0-OpenSSH_9.9\r\n\r\n"),
  "/many-headers": (socket) =>
    void socket.end(`HTTP/1.1 200 OK\r\n${`X-${"a".repeat(1000)}: b\r\n`.repeat(100)}\r\n`),
  "/closed": (socket) => socket.destroy(),
  "/silent": () => {},
  "/half": (socket) => void socket.write(Buffer.concat([Buffer.from(head("image/png")), png])),
  "/moved": redirectTo("https://cdn.test/png"),
  "/moved-here": redirectTo("png#part"),
  "/moved-three": redirectTo("/moved-two"),
  "/moved-two": redirectTo("/moved-here"),
  "/moved-four": redirectTo("/moved-three"),
  "/loop": redirectTo("/loop"),
  "/nowhere": (socket) => socket.end("HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n"),
  "/to-http": redirectTo("http://images.test/png"),
  "/to-private": redirectTo("https://10.0.0.1/png"),
  "/to-metadata": redirectTo("https://169.254.169.254/latest/meta-data"),
  "/to-inside": redirectTo("https://inside.com/png"),
  "/to-us": redirectTo("https://pay.example.com/png"),
  "/to-file": redirectTo("file:///etc/passwd"),
  "/to-data": redirectTo("data:image/png;base64,iVBORw0KGgo="),
  "/to-port": redirectTo("https://images.test:8443/png"),
  "/with-password": redirectTo("https://user:word@images.test/png"),
};

/**
 * A host of images on loopback that speaks in raw bytes, well or badly: the path that is asked for
 * chooses which.
 */
export const openImageHost = async () => {
  const sockets = new Set<Socket>();
  const asked: string[] = [];
  let sentBytes = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => {
      sockets.delete(socket);
      sentBytes += socket.bytesWritten;
    });
    socket.once("data", (chunk) => {
      const request = chunk.toString("latin1");
      asked.push(request);
      behaviours[/^GET ([^ ?]*)/.exec(request)?.[1] ?? ""]?.(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    openCount: () => sockets.size,
    /** What the connections that have ended were sent. */
    sentBytes: () => sentBytes,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
};
export type ImageHost = Awaited<ReturnType<typeof openImageHost>>;
