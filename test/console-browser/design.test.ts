import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "@jest/globals";
import type { Locator, Page } from "playwright-core";
import { createBoxFont } from "../rig/box-font.ts";
import { countDifferentTiles } from "../rig/compare-pictures.ts";
import { findLayoutFaults } from "../rig/find-axe-violations.ts";
import { requireChromium } from "../rig/require-chromium.ts";
import { useConsole } from "../rig/use-console.ts";

const { describe, test } = requireChromium();

const system = useConsole();

const pictureDirectory = join(import.meta.dirname, "design-pictures");

/** Versions of Chromium draw checkboxes and resize handles differently. */
const differentTilesMax = 20;

/** Replaces all fonts, because machines have different ones. */
const useBoxFont = (page: Page): Promise<unknown> =>
  page.evaluate(`(async () => {
    const bytes = Uint8Array.from(atob("${createBoxFont().toString("base64")}"), (one) => one.charCodeAt(0));
    document.fonts.add(await new FontFace("Boxes", bytes.buffer).load());
    const sheet = new CSSStyleSheet();
    sheet.replaceSync("*, ::before, ::after { font-family: Boxes !important }");
    document.adoptedStyleSheets.push(sheet);
  })()`);

/**
 * Compares a picture of an element with its reference. `DESIGN=write` replaces the reference.
 */
const expectPicture = async (name: string, element: Locator, blankPage: Page): Promise<void> => {
  const picture = await element.screenshot({ animations: "disabled" });
  const referencePath = join(pictureDirectory, `${name}.png`);
  if (process.env["DESIGN"] === "write") {
    mkdirSync(pictureDirectory, { recursive: true });
    writeFileSync(referencePath, picture);
  }
  if (!existsSync(referencePath)) throw new Error(`${referencePath} is missing`);
  const differentTiles = await countDifferentTiles(blankPage, [
    picture,
    readFileSync(referencePath),
  ]);
  if (differentTiles <= differentTilesMax) return;
  const picturePath = join(mkdtempSync(join(tmpdir(), "design-")), `${name}.png`);
  writeFileSync(picturePath, picture);
  expect([picturePath, differentTiles]).toEqual([referencePath, "few different tiles"]);
};

describe("the components of the design system", () => {
  test.each(["light", "dark"] as const)(
    "look like their reference pictures in %s",
    async (theme) => {
      const { context, goTo, tab } = await system.signUp(`design_${theme}`, {
        colorScheme: theme,
        locale: "en-US",
        reducedMotion: "reduce",
        viewport: { width: 1280, height: 900 },
      });
      const { page } = tab;
      const blankPage = await context.newPage();
      await goTo("/design", "Design system");
      await useBoxFont(page);
      await page.bringToFront();
      await expectPicture(`page-${theme}`, page.getByRole("main"), blankPage);
      await tab.click("Actions: Order 1001");
      const menu = page.getByRole("menu");
      await menu.getByRole("menuitem").and(page.locator(":focus")).waitFor();
      await expectPicture(`menu-${theme}`, menu, blankPage);
      await page.keyboard.press("Escape");
      await tab.click("Open dialog");
      const dialog = page.getByRole("dialog");
      await dialog.waitFor();
      await expectPicture(`dialog-${theme}`, dialog, blankPage);
    },
  );

  test.each(["light", "dark"] as const)(
    "are accessible and fit into a phone and a computer in %s",
    async (theme) => {
      const { goTo, tab } = await system.signUp(`design_axe_${theme}`, { colorScheme: theme });
      for (const width of [390, 1280]) {
        await tab.page.setViewportSize({ width, height: 844 });
        await goTo("/design", "Design system");
        expect([width, await findLayoutFaults(tab.page)]).toEqual([width, []]);
        await tab.click("Open dialog");
        await tab.page.getByRole("dialog").waitFor();
        expect([width, await findLayoutFaults(tab.page)]).toEqual([width, []]);
      }
    },
  );

  test("show the error of a failed menu action in a dialog", async () => {
    const { goTo, tab } = await system.signUp("design_menu");
    await goTo("/design", "Design system");
    await tab.chooseInMenu("Actions: Order 1001", "Deactivate");
    await tab.page.getByRole("dialog", { name: "Deactivate" }).waitFor();
    expect(await tab.readText()).toContain("That didn't work. Try again.");
  });
});
