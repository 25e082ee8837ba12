import type { Chromium } from "../rig/chromium.ts";
import { composeStrip } from "./compose-strip.ts";
import type { Shop } from "./create-shop.ts";
import { type Device, type Strip, devices, getStripPath, stripVariants } from "./pictures.ts";
import { type Frame, type Story, createScene } from "./scene.ts";
import { attentionStory } from "./stories/attention.ts";
import { failingEndpointStory } from "./stories/failing-endpoint.ts";
import { firstLinkStory } from "./stories/first-link.ts";
import { keyboardStory } from "./stories/keyboard.ts";
import { paidStory } from "./stories/paid.ts";
import { payStory } from "./stories/pay.ts";

/** In the order in which they are taken: each leaves its links and endpoints in the shop. */
const stories: readonly Story[] = [
  firstLinkStory,
  keyboardStory,
  attentionStory,
  failingEndpointStory,
  payStory,
  paidStory,
];

type Strips = Partial<Record<Strip, readonly Frame[]>>;

/** Takes the strips of all stories on each device. Returns their files by path. */
export const takeStrips = async (chromium: Chromium, shop: Shop): Promise<[string, Buffer][]> => {
  const stripsByDevice: Record<Device, Strips> = { phone: {}, computer: {} };
  for (const story of stories) {
    const takeOnDevice = await story(shop);
    for (const device of devices) {
      const { close, ...scene } = createScene(chromium, shop, device);
      Object.assign(stripsByDevice[device], await takeOnDevice(scene));
      await close();
    }
  }
  // The composing page is not a page of the product, so it has no origin.
  const composer = await chromium.createBrowserUser({
    origin: shop.baseUrl,
    viewport: { width: 1680, height: 1200 },
  });
  const { page } = await composer.openTab();
  const files: [string, Buffer][] = [];
  for (const variant of stripVariants) {
    const frames = stripsByDevice[variant.device][variant.strip];
    if (frames === undefined) throw new Error(`the strip ${variant.strip} was not taken`);
    files.push([getStripPath(variant), await composeStrip(page, { ...variant, frames })]);
  }
  await composer.close();
  return files;
};
