import type { Page } from "playwright-core";

/**
 * Returns the number of tiles of 8 by 8 pixels in which two PNG pictures differ visibly. The
 * average color of a tile hardly depends on how a browser smooths edges. Throws if the sizes
 * differ. The page must be blank, because the policy of our pages could block it.
 */
export const countDifferentTiles = (page: Page, pictures: readonly Buffer[]): Promise<number> =>
  page.evaluate<number>(`(async () => {
    const tileSize = 8;
    const visibleDifference = 12;
    const load = async (base64) => {
      const image = new Image();
      image.src = "data:image/png;base64," + base64;
      await image.decode();
      return image;
    };
    const readTiles = (image) => {
      const width = Math.ceil(image.width / tileSize);
      const height = Math.ceil(image.height / tileSize);
      const context = new OffscreenCanvas(width, height).getContext("2d");
      context.imageSmoothingQuality = "high";
      context.drawImage(image, 0, 0, width, height);
      return context.getImageData(0, 0, width, height).data;
    };
    const images = await Promise.all(${JSON.stringify(pictures.map((picture) => picture.toString("base64")))}.map(load));
    const sizes = images.map(({ width, height }) => width + " x " + height);
    if (new Set(sizes).size > 1) throw new Error("the sizes differ: " + sizes.join(", "));
    const [first, second] = images.map(readTiles);
    let count = 0;
    for (let index = 0; index < first.length; index += 4) {
      const isVisible = [0, 1, 2].some((channel) =>
        Math.abs(first[index + channel] - second[index + channel]) > visibleDifference);
      if (isVisible) count += 1;
    }
    return count;
  })()`);
