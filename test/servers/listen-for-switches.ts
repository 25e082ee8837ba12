import { once } from "node:events";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import type { RunningServer } from "./child-server.ts";
import type { ServersByName } from "./start-servers.ts";

/**
 * Accepts `stop <server>` and `start <server>` on a Unix socket, one line per connection. Once it
 * is done it answers `done`, or what went wrong. Answers a function that ends it.
 */
export const listenForSwitches = async (
  path: string,
  servers: ServersByName,
): Promise<() => Promise<void>> => {
  const switches = new Map(Object.entries(servers).map(([name, one]) => [name, toSwitch(one)]));
  const obey = async (line: string): Promise<string> => {
    const [what, name = ""] = line.split(" ");
    const one = switches.get(name);
    if (one === undefined || (what !== "stop" && what !== "start")) return `unknown: ${line}`;
    return await one[what]().then(
      () => "done",
      (error: unknown) => String(error),
    );
  };
  const listener = createServer((socket) => {
    socket.on("error", () => {}); // Whoever asked and went away is told nothing.
    createInterface(socket).once("line", (line) => {
      void obey(line).then((answer) => socket.end(`${answer}\n`));
    });
  }).listen(path);
  await once(listener, "listening");
  return async () => {
    await once(listener.close(), "close");
  };
};

const toSwitch = (server: RunningServer) => {
  let startAgain: (() => Promise<void>) | undefined;
  return {
    stop: async () => {
      startAgain ??= await server.interrupt();
    },
    start: async () => {
      await startAgain?.();
      startAgain = undefined;
    },
  };
};
