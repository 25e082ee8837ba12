import { type AddressInfo, type Socket, createServer } from "node:net";
import { gzipSync } from "node:zlib";

/** The first bytes of a PNG, which are enough to detect the type. */
export const png = Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1");

/** The largest image that the service returns. */
export const bytesMax = 1024 * 1024;

const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';

const createHead = (type: string, ...extraHeaders: string[]): string =>
  ["HTTP/1.1 200 OK", `Content-Type: ${type}`, "Connection: close", ...extraHeaders, "", ""].join(
    "\r\n",
  );
const createRedirect = (location: string) => (socket: Socket) =>
  void socket.end(`HTTP/1.1 302 Found\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`);
const padPng = (size: number): Buffer => Buffer.concat([png, Buffer.alloc(size - png.length)]);

/** Writes repeatedly, as fast as the client reads. */
const writeForever = (socket: Socket, text = "\0"): void => {
  const chunk = text.repeat(64 * 1024);
  const write = (): void => {
    while (!socket.destroyed && socket.write(chunk)) continue;
    // The client reads without a limit, so the host stops here.
    if (socket.bytesWritten > 64 * bytesMax) socket.destroy();
  };
  socket.on("drain", write);
  write();
};
const gzipBomb = gzipSync(padPng(8 * bytesMax));

const behaviors: Record<string, (socket: Socket) => void> = {
  "/png": (socket) => socket.end(Buffer.concat([Buffer.from(createHead("text/html")), png])),
  "/continued": (socket) =>
    socket.end(
      Buffer.concat([Buffer.from(`HTTP/1.1 100 Continue\r\n\r\n${createHead("a/b")}`), png]),
    ),
  "/cookie": (socket) =>
    socket.end(
      Buffer.concat([Buffer.from(createHead("image/png", "Set-Cookie: a=b", "X-A: b")), png]),
    ),
  "/largest": (socket) =>
    socket.end(Buffer.concat([Buffer.from(createHead("a/b")), padPng(bytesMax)])),
  "/too-large": (socket) =>
    socket.end(Buffer.concat([Buffer.from(createHead("a/b")), padPng(bytesMax + 1)])),
  "/says-too-large": (socket) =>
    void socket.write(createHead("image/png", `Content-Length: ${bytesMax + 1}`)),
  "/endless": (socket) => {
    socket.write(Buffer.concat([Buffer.from(createHead("image/png")), png]));
    writeForever(socket);
  },
  "/endless-extension": (socket) => {
    socket.write(`${createHead("image/png", "Transfer-Encoding: chunked")}1;`);
    writeForever(socket, "a");
  },
  "/svg.png": (socket) => socket.end(createHead("image/png") + svg),
  "/html.png": (socket) =>
    socket.end(`${createHead("image/png")}<!doctype html><script>1</script>`),
  "/empty": (socket) => socket.end(createHead("image/png", "Content-Length: 0")),
  "/cut": (socket) =>
    socket.end(Buffer.concat([Buffer.from(createHead("image/png", "Content-Length: 99")), png])),
  "/bomb": (socket) => {
    socket.end(
      Buffer.concat([Buffer.from(createHead("image/png", "Content-Encoding: gzip")), gzipBomb]),
    );
  },
  "/missing": (socket) => socket.end("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"),
  "/garbage": (socket) => socket.end("SSH-2.0-OpenSSH_9.9\r\n\r\n"),
  "/many-headers": (socket) =>
    void socket.end(`HTTP/1.1 200 OK\r\n${`X-${"a".repeat(1000)}: b\r\n`.repeat(100)}\r\n`),
  "/closed": (socket) => socket.destroy(),
  "/silent": () => {},
  "/half": (socket) =>
    void socket.write(Buffer.concat([Buffer.from(createHead("image/png")), png])),
  "/moved": createRedirect("https://cdn.test/png"),
  "/moved-here": createRedirect("png#part"),
  "/moved-three": createRedirect("/moved-two"),
  "/moved-two": createRedirect("/moved-here"),
  "/moved-four": createRedirect("/moved-three"),
  "/loop": createRedirect("/loop"),
  "/nowhere": (socket) => socket.end("HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n"),
  "/to-http": createRedirect("http://images.test/png"),
  "/to-private": createRedirect("https://10.0.0.1/png"),
  "/to-metadata": createRedirect("https://169.254.169.254/latest/meta-data"),
  "/to-inside": createRedirect("https://inside.com/png"),
  "/to-us": createRedirect("https://pay.example.com/png"),
  "/to-file": createRedirect("file:///etc/passwd"),
  "/to-data": createRedirect("data:image/png;base64,iVBORw0KGgo="),
  "/to-port": createRedirect("https://images.test:8443/png"),
  "/with-password": createRedirect("https://user:word@images.test/png"),
};

/**
 * Starts an image host on loopback that sends raw bytes, valid or not, depending on the requested
 * path.
 */
export const startImageHost = async () => {
  const sockets = new Set<Socket>();
  const requests: string[] = [];
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
      requests.push(request);
      behaviors[/^GET ([^ ?]*)/.exec(request)?.[1] ?? ""]?.(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    openCount: () => sockets.size,
    /** The number of bytes sent on connections that have ended. */
    sentBytes: () => sentBytes,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
};
export type ImageHost = Awaited<ReturnType<typeof startImageHost>>;
