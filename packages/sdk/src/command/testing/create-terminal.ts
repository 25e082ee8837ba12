import type { Terminal } from "../command.ts";

type TerminalOptions = { env?: Terminal["env"]; now?: () => Date };

/** Creates a terminal that records what is printed, does not wait, and can be interrupted. */
export const createTerminal = ({ env = {}, now = () => new Date() }: TerminalOptions = {}) => {
  const interruption = new AbortController();
  const lines: string[] = [];
  const notes: string[] = [];
  const terminal: Terminal = {
    env,
    print: (line) => void lines.push(line),
    printNote: (line) => void notes.push(line),
    signal: interruption.signal,
    now,
    wait: async (_ms, signal) => {
      await new Promise((resolve) => setImmediate(resolve));
      signal.throwIfAborted();
    },
    random: () => 0,
    hostName: "laptop",
  };
  return { terminal, lines, notes, interrupt: () => interruption.abort(new Error("interrupted")) };
};
