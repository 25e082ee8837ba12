import { once } from "node:events";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import type { RunningServer } from "./child-server.ts";
import type { ServersByName } from "./start-servers.ts";

/**
 * Accepts `stop <server>` and `start <server>` on a Unix socket, one line per connection. Replies
 * with `done` when the command has finished, or with the error. Returns a function that closes the
 * socket.
 */
export const startControlSocket = async (
  path: string,
  servers: ServersByName,
): Promise<() => Promise<void>> => {
  const controls = new Map(
    Object.entries(servers).map(([name, control]) => [name, createServerControl(control)]),
  );
  const handleCommand = async (line: string): Promise<string> => {
    const [command, name = ""] = line.split(" ");
    const control = controls.get(name);
    if (control === undefined || (command !== "stop" && command !== "start"))
      return `unknown command: ${line}`;
    return await control[command]().then(
      () => "done",
      (error: unknown) => String(error),
    );
  };
  const listener = createServer((socket) => {
    socket.on("error", () => {}); // The client disconnected before the reply.
    createInterface(socket).once("line", (line) => {
      void handleCommand(line).then((result) => socket.end(`${result}\n`));
    });
  }).listen(path);
  await once(listener, "listening");
  return async () => {
    await once(listener.close(), "close");
  };
};

const createServerControl = (server: RunningServer) => {
  let restart: (() => Promise<void>) | undefined;
  return {
    stop: async () => {
      restart ??= await server.stopTemporarily();
    },
    start: async () => {
      await restart?.();
      restart = undefined;
    },
  };
};
