import type { Page } from "playwright-core";
import { designTokens } from "@payment-links/design";
import type { ColorScheme, Device } from "./pictures.ts";
import type { Frame } from "./scene.ts";

type StripOptions = { frames: readonly Frame[]; device: Device; colorScheme: ColorScheme };

/**
 * Places the pictures of frames side by side, in two columns for a computer, and returns them as one
 * WebP picture. Its background is transparent, so that it fits the page around it. The page must be
 * blank.
 */
export const composeStrip = async (
  page: Page,
  { frames, device, colorScheme }: StripOptions,
): Promise<Buffer> => {
  await page.emulateMedia({ colorScheme });
  await page.setContent(renderStrip({ frames, device, colorScheme }));
  await page.evaluate("Promise.all([...document.images].map((image) => image.decode()))");
  const picture = await page.locator("ol").screenshot({ omitBackground: true });
  return Buffer.from(await page.evaluate<string>(buildEncodeScript(picture)), "base64");
};

const renderStrip = ({ frames, device, colorScheme }: StripOptions): string => {
  const items = frames.map(({ caption, pictures }, index) => {
    const source = `data:image/png;base64,${pictures[colorScheme].toString("base64")}`;
    return `<li><p>${index + 1}. ${caption}</p><img src="${source}" alt="" /></li>`;
  });
  return `<style>${designTokens}${stripStyles}</style><ol class="${device}">${items.join("")}</ol>`;
};

/** Every strip is about as wide as the README on a screen with two device pixels per pixel. */
const stripStyles = `
  html { background: none; }
  body { margin: 0; }
  ol { display: inline-grid; gap: 24px; margin: 0; padding: 0; list-style: none; font: 500 24px/1.4 var(--font); }
  .phone { grid-auto-flow: column; }
  .computer { grid-template-columns: auto auto; }
  p { margin: 0 0 8px; color: var(--text-muted); }
  img { display: block; border: 1px solid var(--border); border-radius: 12px; }
  .computer img { width: 800px; }
`;

/** The quality at which text stays readable. A lossless picture is five times as large. */
const quality = 0.8;

/** Chromium encodes WebP, so no other encoder is needed. */
const buildEncodeScript = (picture: Buffer): string => `(async () => {
  const image = new Image();
  image.src = "data:image/png;base64,${picture.toString("base64")}";
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height);
  canvas.getContext("2d").drawImage(image, 0, 0);
  const blob = await canvas.convertToBlob({ type: "image/webp", quality: ${quality} });
  return new Uint8Array(await blob.arrayBuffer()).toBase64();
})()`;
