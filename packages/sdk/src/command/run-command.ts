import { parseArgs } from "node:util";
import { NoAnswerError, PaymentLinksError } from "../errors.ts";
import {
  type Command,
  type CommandInput,
  type ExitCode,
  type Terminal,
  UsageError,
  exitCodes,
} from "./command.ts";
import { commands } from "./commands.ts";
import { toPrintable } from "./format.ts";
import { writeCommandHelp, writeHelp } from "./help.ts";

/** Runs a command line and returns its exit code. Never throws. */
export const runCommand = async (
  words: readonly string[],
  terminal: Terminal,
): Promise<ExitCode> => {
  try {
    return await parseAndRun(words, terminal);
  } catch (error) {
    if (terminal.signal.aborted) return exitCodes.interrupted;
    terminal.printNote(`Error: ${toPrintable(describeError(error))}`);
    return error instanceof UsageError ? exitCodes.usage : exitCodes.failure;
  }
};

const parseAndRun = async (words: readonly string[], terminal: Terminal): Promise<ExitCode> => {
  const [first] = words;
  if (first === undefined || first === "--help" || first === "help") {
    terminal.print(writeHelp(commands));
    return first === undefined ? exitCodes.usage : exitCodes.success;
  }
  const command = findCommand(words);
  const input = parseInput(command, words.slice(command.name.split(" ").length), terminal);
  if (input.isSet("help")) {
    terminal.print(writeCommandHelp(command));
    return exitCodes.success;
  }
  const names = command.parameters ?? [];
  if (input.parameters.length !== names.length) {
    const usage = ["payment-links", command.name, ...names].join(" ");
    throw new UsageError(`Use it as \`${usage}\`.`);
  }
  return command.run(input);
};

const findCommand = (words: readonly string[]): Command => {
  const command = commands.find(({ name }) => {
    const nameWords = name.split(" ");
    return nameWords.every((word, index) => words[index] === word);
  });
  if (command === undefined)
    throw new UsageError(`There is no command ${words[0]}. See payment-links --help.`);
  return command;
};

const parseInput = (
  { options }: Command,
  words: readonly string[],
  terminal: Terminal,
): CommandInput => {
  const { values, positionals } = parseWords(options, words);
  return {
    terminal,
    parameters: positionals,
    getText: (name) => {
      const value = values[name];
      return typeof value === "string" ? value : undefined;
    },
    isSet: (name) => values[name] === true,
  };
};

const parseWords = (
  options: Command["options"],
  words: readonly string[],
): { values: Record<string, unknown>; positionals: string[] } => {
  try {
    return parseArgs({
      args: [...words],
      options: { ...options, help: { type: "boolean" } },
      allowPositionals: true,
    });
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
};

const describeError = (error: unknown): string => {
  if (error instanceof PaymentLinksError) {
    const { code, problems, requestId, status } = error;
    const texts = problems.map(({ code, message }) => `${message} (${code})`);
    const text =
      texts.length === 0 ? `The response is not from Payment Links (${code}).` : texts.join(" ");
    const textWithRequest = requestId === undefined ? text : `${text} Request ${requestId}`;
    return status >= 500 ? addRepeatAdvice(textWithRequest, error) : textWithRequest;
  }
  if (error instanceof NoAnswerError) {
    const text = "The service does not respond. Check its address with `payment-links doctor`.";
    return addRepeatAdvice(text, error);
  }
  return error instanceof Error ? error.message : "Something went wrong.";
};

/** Says how to repeat a call that may have succeeded. */
const addRepeatAdvice = (
  text: string,
  { idempotencyKey }: Pick<NoAnswerError, "idempotencyKey">,
): string =>
  idempotencyKey === undefined
    ? text
    : `${text} Repeat the command with --idempotency-key ${quoteForShell(idempotencyKey)}.`;

const quoteForShell = (text: string): string =>
  /^[\w.:-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
