import { type Command, type Option, UsageError, exitCodes } from "./command.ts";

const shells = ["bash", "zsh", "fish"] as const;

/** Creates the command that prints a shell's completions of all commands. */
export const createCompletion = (listCommands: () => readonly Command[]): Command => ({
  name: "completion",
  summary: "Print the completions of bash, zsh or fish.",
  details: `For example, add this line to ~/.bashrc: source <(payment-links completion bash)`,
  parameters: ["SHELL"],
  options: {},
  run: async ({ parameters: [shell], terminal }) => {
    const commands = listCommands();
    if (shell === "bash") terminal.print(writeBash(commands));
    else if (shell === "zsh") terminal.print(writeZsh(commands));
    else if (shell === "fish") terminal.print(writeFish(commands));
    else throw new UsageError(`SHELL must be one of ${shells.join(", ")}.`);
    return exitCodes.success;
  },
});

/** What can follow the words of an unfinished command line, such as `create` after `links`. */
const listWords = (commands: readonly Command[]): Map<string, string[]> => {
  const wordsByStart = new Map<string, string[]>([["", []]]);
  const add = (start: string, word: string) => {
    const words = wordsByStart.get(start) ?? [];
    if (!words.includes(word)) wordsByStart.set(start, [...words, word]);
  };
  for (const { name, options } of commands) {
    const [first = "", second] = name.split(" ");
    add("", first);
    if (second !== undefined) add(first, second);
    for (const option of [...Object.keys(options), "help"]) add(name, `--${option}`);
  }
  for (const shell of shells) add("completion", shell);
  return wordsByStart;
};

/** Writes the branches of a shell's `case`. Longer beginnings come first. */
const writeCases = (commands: readonly Command[]): string[] =>
  [...listWords(commands)]
    .toSorted(([a], [b]) => b.length - a.length)
    .map(
      ([start, words]) =>
        `    ${start === "" ? `""` : `"${start}"*`}) words="${words.join(" ")}" ;;`,
    );

const writeBash = (commands: readonly Command[]): string =>
  [
    "_payment_links() {",
    `  local words="" typed="\${COMP_WORDS[*]:1:COMP_CWORD-1}"`,
    `  case "$typed" in`,
    ...writeCases(commands),
    "  esac",
    `  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))`,
    "}",
    "complete -o default -F _payment_links payment-links",
  ].join("\n");

const writeZsh = (commands: readonly Command[]): string =>
  [
    "#compdef payment-links",
    "_payment_links() {",
    `  local words_before="\${(j: :)words[2,CURRENT-1]}" candidates=""`,
    `  case "$words_before" in`,
    ...writeCases(commands).map((line) => line.replace("words=", "candidates=")),
    "  esac",
    "  compadd -- ${=candidates}",
    "}",
    "compdef _payment_links payment-links",
    // A file in `fpath` is loaded by the first completion, which it has to answer.
    `if [ "$funcstack[1]" = "_payment-links" ]; then _payment_links "$@"; fi`,
  ].join("\n");

const writeFish = (commands: readonly Command[]): string => {
  const complete = (condition: string, rest: string) =>
    `complete -c payment-links -n '${condition}' ${rest}`;
  const lines = ["complete -c payment-links -f"];
  const firstWords = new Set<string>();
  for (const { name, options, summary } of commands) {
    const [first = "", second] = name.split(" ");
    const isFirst = !firstWords.has(first);
    firstWords.add(first);
    const description = second === undefined ? ` -d ${quote(summary)}` : "";
    if (isFirst) lines.push(complete("__fish_use_subcommand", `-a ${first}${description}`));
    if (second !== undefined)
      lines.push(
        complete(`__fish_seen_subcommand_from ${first}`, `-a ${second} -d ${quote(summary)}`),
      );
    const condition = `__fish_seen_subcommand_from ${second ?? first}`;
    for (const [option, definition] of Object.entries(options))
      lines.push(complete(condition, writeFishOption(option, definition)));
  }
  lines.push(complete("__fish_seen_subcommand_from completion", `-a '${shells.join(" ")}'`));
  return lines.join("\n");
};

const writeFishOption = (name: string, { description, type }: Option): string =>
  `-l ${name}${type === "string" ? " -r" : ""} -d ${quote(description)}`;

/** Quotes a text for fish. */
const quote = (text: string): string => `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`;
