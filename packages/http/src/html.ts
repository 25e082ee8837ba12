/** Text that is already HTML. All other values are escaped when they are inserted into a page. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type HtmlValue = string | number | Html | readonly Html[] | undefined;

/**
 * Builds HTML. Values are escaped for text and quoted attributes. Undefined renders as an empty
 * string.
 */
export const html = (parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html =>
  new Html(parts.reduce((text, part, index) => text + renderValue(values[index - 1]) + part));

const renderValue = (value: HtmlValue): string => {
  if (value === undefined) return "";
  if (value instanceof Html) return value.text;
  if (typeof value === "object") return value.map((item) => item.text).join("");
  return String(value).replace(/[&<>"']/g, (character) => entities[character] ?? "");
};

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
