import { readFileSync } from "node:fs";
import { writeApiReference } from "./write-api-reference.ts";
import { writeErrors } from "./write-errors.ts";
import { writeWebhook, writeWebhookFields } from "./write-webhooks.ts";

const packageDirectory = new URL("../../", import.meta.url);

const receivers = [
  { label: "TypeScript", language: "ts", file: "typescript/receiver.ts" },
  { label: "Python", language: "python", file: "python/receiver.py" },
  { label: "PHP", language: "php", file: "php/receiver.php" },
  { label: "Go", language: "go", file: "go/receiver.go" },
  { label: "Ruby", language: "ruby", file: "ruby/receiver.rb" },
  { label: "Java", language: "java", file: "java/Receiver.java" },
] as const;

/** Returns the sections of a package's README that its users need. */
const readUserSections = (packageName: string): string => {
  const readme = readFileSync(new URL(`../${packageName}/README.md`, packageDirectory), "utf8");
  const [text = ""] = readme.split(/^## (?:Develop|Dependencies|Decisions)$/m);
  return text.slice(text.indexOf("\n## ") + 1).trimEnd();
};

/** What a directive writes in place of itself, as Markdown. */
const directives: Readonly<Record<string, (argument: string) => string>> = {
  api: writeApiReference,
  errors: writeErrors,
  readme: readUserSections,
  receivers: () =>
    receivers
      .map(({ label, language, file }) => {
        const text = readFileSync(new URL(`receivers/${file}`, packageDirectory), "utf8");
        return `\`\`\`${language} tab=${label}\n${text}\`\`\``;
      })
      .join("\n\n"),
  webhook: writeWebhook,
  "webhook-fields": writeWebhookFields,
};

/** Replaces the lines `<!-- name argument -->` by the generated text of that name. */
export const expandDirectives = (source: string): string =>
  source.replaceAll(/^<!-- ([\w-]+)(?: (.+))? -->$/gm, (_, name: string, argument = "") => {
    const write = directives[name];
    if (write === undefined) throw new Error(`unknown directive ${name}`);
    return write(argument);
  });
