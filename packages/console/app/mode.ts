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

/** An item of the API. During an upgrade, a service of the previous release omits the mode. */
type Item = { mode?: Mode | undefined };

/** Returns the mode that an item belongs to. */
export const getModeOf = (item: Item): Mode => item.mode ?? "live";

/** Returns whether an item belongs to the mode of this page. */
export const isOfMode = (item: Item): boolean => getModeOf(item) === mode;
