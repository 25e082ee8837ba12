import type { BrowserContextOptions } from "playwright-core";
import { waitUntil } from "@payment-links/runtime/testing";
import type { BrowserUser, Chromium, Tab } from "../rig/chromium.ts";
import type { Shop } from "./create-shop.ts";
import { type UserOptions, createUser, requireNoViolations } from "./create-user.ts";
import { type ColorScheme, type Device, type Strip, colorSchemes } from "./pictures.ts";

/** One step of a story: its caption, and a picture of the window in each color scheme. */
export type Frame = { caption: string; pictures: Readonly<Record<ColorScheme, Buffer>> };

/** One device on which a story happens. */
export type Scene = {
  device: Device;
  /** Opens a tab of a new user. */
  openTab: (options?: UserOptions) => Promise<Tab>;
  /** Takes a picture of the window in each color scheme, once it is loaded. */
  capture: (tab: Tab, caption: string) => Promise<Frame>;
};

/** Prepares a story's data, and returns a function that takes its strips on a device. */
export type Story = (
  shop: Shop,
) => Promise<(scene: Scene) => Promise<Partial<Record<Strip, readonly Frame[]>>>>;

const deviceOptions: Readonly<Record<Device, BrowserContextOptions>> = {
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
  computer: { viewport: { width: 1280, height: 800 } },
};

/** Creates a scene. `close` fails if a page broke its content security policy. */
export const createScene = (
  chromium: Chromium,
  shop: Shop,
  device: Device,
): Scene & { close: () => Promise<void> } => {
  const users: BrowserUser[] = [];
  return {
    device,
    openTab: async (options = {}) => {
      const user = await createUser(chromium, shop, { ...deviceOptions[device], ...options });
      users.push(user);
      return user.openTab();
    },
    capture: async ({ page, readText }, caption) => {
      const isLoaded = async () => !/Loading…|Working…/.test(await readText());
      await waitUntil("the page is loaded", isLoaded);
      const capturePage = async (colorScheme: ColorScheme) => {
        await page.emulateMedia({ colorScheme });
        return page.screenshot({ animations: "disabled", caret: "hide" });
      };
      const [light, dark] = colorSchemes;
      return {
        caption,
        pictures: { light: await capturePage(light), dark: await capturePage(dark) },
      };
    },
    close: async () => {
      for (const user of users) requireNoViolations(user);
      await Promise.all(users.map((user) => user.close()));
    },
  };
};
