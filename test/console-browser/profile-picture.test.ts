import { expect } from "@jest/globals";
import { buildPng } from "@payment-links/auth-keys/testing/image-files";
import { waitUntil } from "@payment-links/runtime/testing";
import { findLayoutFaults } from "../rig/find-axe-violations.ts";
import { requireChromium } from "../rig/require-chromium.ts";
import { useConsole } from "../rig/use-console.ts";

const { describe, test } = requireChromium();

const system = useConsole();

const teal = [0, 128, 128, 255];

/** Builds a PNG file of one color. */
const buildTealPng = (width: number, height: number): Buffer => {
  const row = [0, ...Array.from({ length: width }, () => teal).flat()];
  return buildPng(width, height, {
    rows: Buffer.from(Array.from({ length: height }, () => row).flat()),
  });
};

describe("a profile image", () => {
  test("can be chosen, previewed, saved, seen by payers and removed (rule CALLER-46)", async () => {
    const { addDefaultWallet, call, goTo, tab } = await system.signUp("pic_tea", {
      viewport: { width: 320, height: 640 },
    });
    const { page } = tab;
    await addDefaultWallet();
    const openCheckout = async (): Promise<void> => {
      // Services can use cached account data for this long.
      system.clock.advance(60_000);
      const { id } = await call("post", "payment-links", { toAmount: "25" });
      await tab.goTo(`${system.origin}/@pic_tea/pay/${id}`, "25 USDC");
    };
    await goTo("/account/profile", "Profile image URL");
    const fileChooser = page.waitForEvent("filechooser");
    await page.getByRole("button", { name: "Choose file" }).focus();
    await page.keyboard.press("Enter");
    const buffer = buildTealPng(60, 40);
    await (await fileChooser).setFiles({ name: "logo.txt", mimeType: "text/plain", buffer });
    const preview = page.getByRole("group", { name: "Profile image" }).locator("canvas");
    await preview.waitFor();
    const middlePixel = await page.evaluate(`[...document.querySelector("[role=group] canvas")
      .getContext("2d").getImageData(128, 128, 1, 1).data]`);
    expect(middlePixel).toEqual(teal);
    expect(await tab.readText()).not.toContain("Profile image URL");
    expect(await findLayoutFaults(page)).toEqual([]);
    await tab.click("Save profile", "Saved");
    const isShown = async (selector: string) =>
      (await page.evaluate(`document.querySelector("${selector}")?.naturalWidth`)) === 256;
    const picture = "img[src^='/checkout/pictures/']";
    await waitUntil("the saved image is shown", () => isShown(picture));
    await openCheckout();
    await waitUntil("payers see the image", () => isShown(`.seller ${picture}`));
    await goTo("/account/profile", "Remove");
    await tab.click("Remove", "Profile image URL");
    await tab.click("Save profile", "Saved");
    await openCheckout();
    expect(await page.locator("img.portrait").count()).toBe(0);
  });

  test("that cannot be used is explained at the field", async () => {
    const { goTo, tab } = await system.signUp("pic_bad");
    const { page } = tab;
    await goTo("/account/profile", "Profile image URL");
    const input = page.locator("input[type=file]");
    const choose = (name: string, buffer: Buffer) =>
      input.setInputFiles({ name, mimeType: "image/png", buffer });
    await choose("large.png", Buffer.alloc(2 * 1024 * 1024 + 1));
    await tab.waitForText("The file is larger than 2 MB.");
    await choose("text.png", Buffer.from("no image"));
    await tab.waitForText("The file isn't a PNG, JPEG, WebP or GIF image.");
    expect(await findLayoutFaults(page)).toEqual([]);
    // The browser can decode this image, but the service rejects it.
    await choose("huge.png", buildTealPng(16_384, 1));
    await page.getByRole("group", { name: "Profile image" }).locator("canvas").waitFor();
    await tab.click("Save profile", "The image has over 12 million pixels, or a side over 16,383.");
  });
});
