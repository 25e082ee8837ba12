import { type Html, html } from "./html.ts";

/** Fills values into a text's places; those that are HTML stay it. */
export const fillHtml = (text: string, values: Readonly<Record<string, Html | string>>): Html => {
  const parts = text.split(/\{(\w+)\}/);
  // Every second part is the name of a place.
  return html`${parts.map((part, index) => html`${index % 2 === 0 ? part : values[part]}`)}`;
};
