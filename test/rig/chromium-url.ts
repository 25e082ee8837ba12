/** Where the run's shared Chromium is; undefined where the machine has none. */
export const getChromiumUrl = (): string | undefined => process.env["CHROMIUM_URL"];
