import type { BrowserUser, Chromium } from "../rig/chromium.ts";
import type { Shop } from "./create-shop.ts";

export type UserOptions = Omit<Parameters<Chromium["createBrowserUser"]>[0], "origin"> & {
  /** The cookies of a signed-in user. */
  cookie?: string;
};

/** Creates a browser user with the shop's date, light colors and English texts. */
export const createUser = async (
  chromium: Chromium,
  { baseUrl, now }: Shop,
  { cookie, ...options }: UserOptions,
): Promise<BrowserUser> => {
  const defaultOptions = { colorScheme: "light", locale: "en-US", timezoneId: "UTC" } as const;
  const user = await chromium.createBrowserUser({ origin: baseUrl, ...defaultOptions, ...options });
  await user.context.clock.setFixedTime(now);
  const cookiePairs = cookie?.split("; ").map((pair) => pair.split("=")) ?? [];
  await user.context.addCookies(
    cookiePairs.map(([name = "", value = ""]) => ({ name, value, url: baseUrl })),
  );
  return user;
};

/** Throws if a page of the user broke its content security policy. */
export const requireNoViolations = ({ violations }: BrowserUser): void => {
  if (violations.length > 0)
    throw new Error(`the content security policy blocked: ${violations.join(", ")}`);
};
