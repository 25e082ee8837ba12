/** Returns the URL of the test run's shared Chromium, or undefined if Chromium is not installed. */
export const getChromiumUrl = (): string | undefined => process.env["CHROMIUM_URL"];
