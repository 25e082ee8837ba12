/** Whether a page shows live data, or test data without real money. */
export type Mode = "live" | "test";

const basePaths: Readonly<Record<Mode, string>> = { live: "/console", test: "/console/test" };

/**
 * The mode of this page, which its URL determines. Another mode is another page load, so nothing
 * that this page has fetched can appear in it.
 */
export const mode: Mode = `${location.pathname}/`.startsWith(`${basePaths.test}/`)
  ? "test"
  : "live";

/** The path that precedes the paths of all views. */
export const basePath = basePaths[mode];

/** Returns the URL of a view in a mode. */
export const buildModeUrl = (targetMode: Mode, viewPath: string): string =>
  viewPath === "/" ? basePaths[targetMode] : `${basePaths[targetMode]}${viewPath}`;

/** Returns whether an item belongs to the mode of this page. */
export const isOfMode = (item: { mode: Mode }): boolean => item.mode === mode;
