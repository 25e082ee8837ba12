import { type Html, html } from "./html.ts";

/** Fills values into a text's places; those that are HTML stay it. */
export const fillHtml = (text: string, values: Readonly<Record<string, Html | string>>): Html => {
  const segments = text.split(/\{(\w+)\}/);
  // Every second part is the name of a place.
  return html`${segments.map((segment, index) => html`${index % 2 === 0 ? segment : values[segment]}`)}`;
};
