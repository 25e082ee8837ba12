import { readFileSync } from "node:fs";
import { expandDirectives } from "./expand-directives.ts";
import { type RenderedMarkdown, renderMarkdown } from "./render-markdown.ts";

/** A page of the docs. Its first heading is its title, and its first paragraph the description. */
export type Page = RenderedMarkdown & { name: string; title: string; description: string };

const contentDirectory = new URL("../../content/", import.meta.url);

/** Reads and renders the page of that name. */
export const readPage = (name: string): Page => {
  const source = readFileSync(new URL(`${name}.md`, contentDirectory), "utf8");
  const rendered = renderMarkdown(expandDirectives(source));
  const [first] = rendered.headings;
  if (first?.level !== 1) throw new Error(`${name}.md does not start with a title`);
  const description = /\n\n(.+?)\n\n/s.exec(source)?.[1] ?? "";
  return {
    ...rendered,
    name,
    title: first.text,
    description: description.replaceAll(/\[([^\]]*)\]\([^)]*\)|[`*]/g, "$1").replaceAll("\n", " "),
  };
};
