import decodeQr from "qr/decode.js";

/** The number of pixels per module, as on a screen. */
const pixelsPerModule = 4;

/** Scans a QR code that is drawn as an SVG path, as a phone's camera would. */
export const scanQrImage = (svg: string) => {
  const sideLength = Number(/viewBox="0 0 (\d+) \1"/.exec(svg)?.[1]);
  const pixels = sideLength * pixelsPerModule;
  const data = new Uint8Array(pixels * pixels * 4).fill(255);
  let marginModules = sideLength;
  for (const [, x, y, width] of svg.matchAll(/M(\d+) (\d+)h(\d+)v1h-\3z/g)) {
    marginModules = Math.min(marginModules, Number(x), Number(y));
    for (let pixelRow = 0; pixelRow < pixelsPerModule; pixelRow += 1) {
      const offset =
        ((Number(y) * pixelsPerModule + pixelRow) * pixels + Number(x) * pixelsPerModule) * 4;
      for (let pixel = 0; pixel < Number(width) * pixelsPerModule; pixel += 1) {
        data.fill(0, offset + pixel * 4, offset + pixel * 4 + 3);
      }
    }
  }
  const text = decodeQr({ width: pixels, height: pixels, data }, { timeLimit: 60_000 });
  return { text, marginModules, sideLength };
};
