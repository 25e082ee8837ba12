import { type Html, html } from "./html.ts";

/**
 * Inserts values into the `{name}` placeholders of a text. Strings are escaped, HTML values are
 * not.
 */
export const fillHtml = (text: string, values: Readonly<Record<string, Html | string>>): Html => {
  const segments = text.split(/\{(\w+)\}/);
  // Every second segment is the name of a placeholder.
  return html`${segments.map((segment, index) => html`${index % 2 === 0 ? segment : values[segment]}`)}`;
};
