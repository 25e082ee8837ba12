import type { Command, Option } from "./command.ts";
import { formatColumns } from "./format.ts";

/** Writes the help of the program. */
export const writeHelp = (commands: readonly Command[]): string =>
  [
    "Usage: payment-links COMMAND [OPTIONS]",
    "",
    "Commands:",
    ...formatColumns(commands.map(({ name, summary }) => [name, summary])),
    "",
    "Environment:",
    ...formatColumns([
      ["PAYMENT_LINKS_URL", "The service's address, such as https://pay.example.com."],
      ["PAYMENT_LINKS_API_KEY", "The API key. Default: the one of `login`."],
    ]),
    "",
    "`payment-links COMMAND --help` shows the options of a command.",
  ].join("\n");

/** Writes the help of a command. */
export const writeCommandHelp = (command: Command): string => {
  const { details, name, options, parameters = [], summary } = command;
  const usage = ["payment-links", name, ...parameters, "[OPTIONS]"].join(" ");
  return [
    `Usage: ${usage}`,
    "",
    summary,
    ...(details === undefined ? [] : ["", ...wrap(details)]),
    "",
    "Options:",
    ...formatColumns([...Object.entries(options), helpEntry].map(formatOption)),
  ].join("\n");
};

const helpEntry: [string, Option] = ["help", { type: "boolean", description: "Show this help." }];

const formatOption = ([name, { description, placeholder }]: [string, Option]): [string, string] => [
  `--${name}${placeholder === undefined ? "" : ` ${placeholder}`}`,
  description,
];

const columnsMax = 80;

/** Breaks a text into lines of at most 80 characters. */
const wrap = (text: string): string[] => {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + word.length >= columnsMax) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
};
