import {
  type IconNode,
  check,
  chevronLeft,
  chevronRight,
  copy,
  menu,
  search,
  x,
} from "@payment-links/design/icons";
import type { Assets } from "./assets.ts";
import { buildPagePath, sections } from "./navigation.ts";
import type { Page } from "./page.ts";
import { escapeHtml } from "./render-markdown.ts";

type PageContext = { pages: readonly Page[]; assets: Assets };

/** Renders a page as a complete HTML document. */
export const renderPage = (page: Page, { pages, assets }: PageContext): string => {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${escapeHtml(page.description)}">
<title>${escapeHtml(page.title)} · Payment Links</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${assets.style}">
<script type="module" src="${assets.script}" data-search="${assets.search}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
${renderHeader()}
<div class="layout">
${renderNavigation(page, pages)}
<main id="content" tabindex="-1">
<article>
${page.html}</article>
${renderNeighbors(page, pages)}
</main>
${renderContents(page)}
</div>
${renderSearch()}
<template id="copy-button"><button type="button" class="icon-button copy" aria-label="Copy code">${renderIcon(copy)}${renderIcon(check)}</button></template>
</body>
</html>
`;
};

const renderHeader = (): string => `<header>
<button type="button" class="icon-button menu" popovertarget="navigation" aria-label="Menu">${renderIcon(menu)}</button>
<a class="brand" href="/docs"><img src="/favicon.svg" alt="" width="24" height="24">Payment Links <span>Docs</span></a>
<button type="button" class="search-button" id="open-search" hidden aria-keyshortcuts="/ Control+K Meta+K">${renderIcon(search)}<span>Search</span><kbd>/</kbd></button>
<a class="console" href="/console">Console</a>
</header>`;

const renderNavigation = (current: Page, pages: readonly Page[]): string => {
  const titles = new Map(pages.map(({ name, title }) => [name, title]));
  const renderLink = (name: string): string =>
    `<li><a href="${buildPagePath(name)}"${name === current.name ? ' aria-current="page"' : ""}>${escapeHtml(titles.get(name) ?? "")}</a></li>`;
  const lists = sections.map(
    ({ title, pages: names }) =>
      `<p>${escapeHtml(title)}</p><ul>${names.map(renderLink).join("")}</ul>`,
  );
  return `<nav id="navigation" popover aria-label="Docs"><button type="button" class="icon-button close" popovertarget="navigation" popovertargetaction="hide" aria-label="Close menu">${renderIcon(x)}</button>${lists.join("")}</nav>`;
};

/** A page with more headings than this lists only its main sections. */
const contentsEntriesMax = 24;

const renderContents = ({ headings }: Page): string => {
  const entries = headings.filter(({ level }) => level === 2 || level === 3);
  const levelMax = entries.length > contentsEntriesMax ? 2 : 3;
  const links = entries
    .filter(({ level }) => level <= levelMax)
    .map(
      ({ id, level, text }) =>
        `<li class="level-${level}"><a href="#${escapeHtml(encodeURIComponent(id))}">${escapeHtml(text)}</a></li>`,
    );
  return links.length === 0
    ? ""
    : `<nav class="contents" aria-label="On this page"><p>On this page</p><ul>${links.join("")}</ul></nav>`;
};

const renderNeighbors = (current: Page, pages: readonly Page[]): string => {
  const index = pages.indexOf(current);
  const [previous, next] = [pages[index - 1], pages[index + 1]];
  const previousLink =
    previous &&
    `<a class="previous" rel="prev" href="${buildPagePath(previous.name)}">${renderIcon(chevronLeft)}<span>Previous</span><strong>${escapeHtml(previous.title)}</strong></a>`;
  const nextLink =
    next &&
    `<a class="next" rel="next" href="${buildPagePath(next.name)}"><span>Next</span><strong>${escapeHtml(next.title)}</strong>${renderIcon(chevronRight)}</a>`;
  return `<nav class="neighbors" aria-label="Previous and next page">${previousLink ?? ""}${nextLink ?? ""}</nav>`;
};

const renderSearch = (): string => `<dialog id="search" aria-label="Search the docs">
<div class="search-field">${renderIcon(search)}<input type="text" id="search-input" role="combobox" aria-label="Search" aria-expanded="false" aria-controls="search-results" aria-autocomplete="list" placeholder="Search the docs" autocomplete="off" spellcheck="false"><button type="button" class="icon-button" id="close-search" aria-label="Close search">${renderIcon(x)}</button></div>
<ul id="search-results" role="listbox" aria-label="Results" hidden></ul>
<p id="search-status" role="status"></p>
</dialog>`;

/** Renders an icon in the color of the text. It is decorative. */
const renderIcon = (node: IconNode): string => {
  const elements = node.map(([element, attributes]) => {
    const attributeTexts = Object.entries(attributes).map(([name, value]) => ` ${name}="${value}"`);
    return `<${element}${attributeTexts.join("")}/>`;
  });
  return `<svg class="icon" viewBox="0 0 24 24" width="16" height="16" aria-hidden="true">${elements.join("")}</svg>`;
};
