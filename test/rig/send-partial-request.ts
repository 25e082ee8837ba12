import { once } from "node:events";
import { connect } from "node:net";

/**
 * Sends part of a body to a server on loopback and disconnects. Returns true if the server was
 * listening.
 */
export const sendPartialRequest = async (port: number): Promise<boolean> => {
  const socket = connect(port, "127.0.0.1");
  const isListening = await new Promise<boolean>((resolve) => {
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
  });
  if (isListening) {
    socket.end("POST / HTTP/1.1\r\nHost: receiver.test\r\nContent-Length: 100\r\n\r\n{}");
    socket.resume();
    await once(socket, "close");
  }
  return isListening;
};
