import createMarkdown, { type Token } from "markdown-it";
import { highlight } from "./highlight.ts";
import { buildPagePath } from "./navigation.ts";

/** A heading of a page. Its id is the anchor of its section. */
type Heading = { id: string; level: number; text: string };

/** A part of a page that the search can find: a heading and the text below it. */
type Section = { id: string; title: string; text: string };

export type RenderedMarkdown = { html: string; headings: Heading[]; sections: Section[] };

const markdown = createMarkdown({ html: false });

/** Escapes a text for HTML, also within quoted attributes. */
export const { escapeHtml } = markdown.utils;

/** Renders a page's Markdown, with anchors, highlighted code and links between pages. */
export const renderMarkdown = (source: string): RenderedMarkdown => {
  const tokens = markdown.parse(source, {});
  const headings = addAnchors(tokens);
  return {
    html: markdown.renderer.render(tokens, markdown.options, {}),
    headings,
    sections: splitSections(tokens, headings),
  };
};

/** Gives each heading an id. A heading that is only code, such as an error code, is its own id. */
const addAnchors = (tokens: readonly Token[]): Heading[] => {
  const usedIds = new Set<string>();
  return tokens.flatMap((token, index) => {
    if (token.type !== "heading_open") return [];
    const inline = tokens[index + 1];
    const text = getText(inline);
    const [onlyChild, ...otherChildren] = inline?.children ?? [];
    const isCode = onlyChild?.type === "code_inline" && otherChildren.length === 0;
    const id = createUniqueId(isCode ? text : slugify(text), usedIds);
    token.attrSet("id", id);
    return [{ id, level: Number(token.tag.slice(1)), text }];
  });
};

const slugify = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s-]/gu, "")
    .trim()
    .replaceAll(/\s+/g, "-");

const createUniqueId = (id: string, usedIds: Set<string>): string => {
  let uniqueId = id;
  for (let number = 2; usedIds.has(uniqueId); number += 1) uniqueId = `${id}-${number}`;
  usedIds.add(uniqueId);
  return uniqueId;
};

const getText = (inline: Token | undefined): string =>
  (inline?.children ?? [])
    .map(({ type, content }) => (type === "softbreak" ? " " : content))
    .join("");

const splitSections = (tokens: readonly Token[], headings: readonly Heading[]): Section[] => {
  const sections = headings.map(({ id, text }) => ({ id, title: text, text: "" }));
  let index = -1;
  let isHeading = false;
  for (const token of tokens) {
    if (token.type === "heading_open") index += 1;
    isHeading = token.type === "heading_open" || (isHeading && token.type === "inline");
    const section = sections[index];
    if (section === undefined || isHeading) continue;
    if (token.type === "inline") section.text += ` ${getText(token)}`;
    if (token.type === "fence") section.text += ` ${token.content}`;
  }
  return sections.map((section) => ({
    ...section,
    text: section.text.replaceAll(/\s+/g, " ").trim(),
  }));
};

const { rules } = markdown.renderer;

const getAttribute = (token: Token | undefined, name: string): string =>
  String(token?.attrGet(name) ?? "");

rules["heading_open"] = (tokens, index) => {
  const tag = tokens[index]?.tag ?? "";
  const id = getAttribute(tokens[index], "id");
  return tag === "h1"
    ? `<h1 id="${escapeHtml(id)}">`
    : `<${tag} id="${escapeHtml(id)}"><a href="#${escapeHtml(encodeURIComponent(id))}">`;
};
rules["heading_close"] = (tokens, index) =>
  tokens[index]?.tag === "h1" ? "</h1>\n" : `</a></${tokens[index]?.tag}>\n`;

// A wide table scrolls.
rules["table_open"] = () => '<div class="table"><table>\n';
rules["table_close"] = () => "</table></div>\n";
rules["th_open"] = () => '<th scope="col">';

rules["link_open"] = (tokens, index) => {
  const href = getAttribute(tokens[index], "href");
  const [, name, anchor = ""] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
  if (name !== undefined) return `<a href="${buildPagePath(name)}${escapeHtml(anchor)}">`;
  const isExternal = /^https?:/.test(href);
  return `<a href="${escapeHtml(href)}"${isExternal ? ' rel="noreferrer"' : ""}>`;
};

const languageNames: Readonly<Record<string, string>> = {
  sh: "bash",
  js: "javascript",
  ts: "typescript",
  py: "python",
  rb: "ruby",
  http: "",
  text: "",
  "": "",
};

/**
 * Renders a code block. `tab=<label>` after the language makes it one of several alternatives, of
 * which one is open at a time.
 */
rules["fence"] = (tokens, index) => {
  const { content = "", info = "" } = tokens[index] ?? {};
  const [name = "", ...options] = info.split(" ");
  const language = languageNames[name] ?? name;
  const text = language === "" ? escapeHtml(content) : highlight(content, language);
  const block = `<div class="code"><pre><code>${text}</code></pre></div>\n`;
  const label = options.find((option) => option.startsWith("tab="))?.slice(4);
  if (label === undefined) return block;
  const group = findGroupStart(tokens, index);
  return (
    `<details class="alternative" name="alternatives-${group}"${group === index ? " open" : ""}>` +
    `<summary>${escapeHtml(label)}</summary>${block}</details>\n`
  );
};

/** Returns the index of the first of the adjacent alternatives. */
const findGroupStart = (tokens: readonly Token[], index: number): number => {
  const previous = tokens[index - 1];
  const isAlternative = previous?.type === "fence" && previous.info.includes(" tab=");
  return isAlternative ? findGroupStart(tokens, index - 1) : index;
};
