import { createAssets } from "./assets.ts";
import { buildPagePath, sections } from "./navigation.ts";
import { type Page, readPage } from "./page.ts";
import { renderPage } from "./render-page.ts";

/** Renders all files of the docs: pages and assets, by their path. */
export const renderSite = (): ReadonlyMap<string, string> => {
  const pages = sections.flatMap((section) => section.pages).map(readPage);
  const { assets, files } = createAssets(JSON.stringify(pages.flatMap(listSearchEntries)));
  return new Map([
    ...pages.map(
      (page) => [`pages/${page.name}.html`, renderPage(page, { pages, assets })] as const,
    ),
    ...files,
  ]);
};

const listSearchEntries = (page: Page) =>
  page.sections.map(({ id, title, text }) => ({
    id: page.title === title ? buildPagePath(page.name) : `${buildPagePath(page.name)}#${id}`,
    title,
    page: page.title,
    text,
  }));
