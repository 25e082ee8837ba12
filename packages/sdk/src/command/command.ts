import type { ParseArgsOptionDescriptor } from "node:util";

/** The exit codes of every command. */
export const exitCodes = {
  success: 0,
  /** The service or the network failed, or a check did. */
  failure: 1,
  /** The command line is wrong. */
  usage: 2,
  /** `links watch`: the link is inactive, so it will not be completed. */
  inactive: 3,
  interrupted: 130,
} as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** What commands need from the program that runs them. */
export type Terminal = {
  env: Readonly<Record<string, string | undefined>>;
  /** Prints a line to the standard output. */
  print(line: string): void;
  /** Prints a line to the standard error, for people. */
  printNote(line: string): void;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
  now(): Date;
  /**
   * Resolves after `ms` milliseconds, or rejects with the signal's reason when the signal aborts.
   */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  random(): number;
  hostName: string;
};

export type Option = ParseArgsOptionDescriptor & {
  /** What a value is, in capitals. Only for options with a value. */
  placeholder?: string;
  description: string;
};

/** The values of a command line. An option with a default always has a value. */
export type CommandInput = {
  terminal: Terminal;
  /** The value of an option of type `string`. */
  getText(name: string): string | undefined;
  isSet(name: string): boolean;
  /** The arguments that are not options, one for each name in `parameters`. */
  parameters: readonly string[];
};

export type Command = {
  /** One or two words, such as `links create`. */
  name: string;
  summary: string;
  /** More help, below the summary. */
  details?: string;
  /** The names of the arguments, in capitals. All are required. */
  parameters?: readonly string[];
  options: Readonly<Record<string, Option>>;
  run(input: CommandInput): Promise<ExitCode>;
};

/** The command line is wrong. The message says how. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export const urlOption: Option = {
  type: "string",
  placeholder: "URL",
  description: "The service's address. Default: PAYMENT_LINKS_URL, then the one of `login`.",
};

export const jsonOption: Option = {
  type: "boolean",
  description: "Print JSON, one object per line.",
};
