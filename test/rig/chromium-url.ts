/** Returns the URL of the run's shared Chromium, or undefined if the machine has none. */
export const getChromiumUrl = (): string | undefined => process.env["CHROMIUM_URL"];
