import decodeQr from "qr/decode.js";

/** Pixels per module, as on a screen. */
const scale = 4;

/** Scans a QR code that is drawn as an SVG path, as a phone's camera does. */
export const scanQrImage = (svg: string) => {
  const side = Number(/viewBox="0 0 (\d+) \1"/.exec(svg)?.[1]);
  const pixels = side * scale;
  const data = new Uint8Array(pixels * pixels * 4).fill(255);
  let marginModules = side;
  for (const [, x, y, width] of svg.matchAll(/M(\d+) (\d+)h(\d+)v1h-\3z/g)) {
    marginModules = Math.min(marginModules, Number(x), Number(y));
    for (let line = 0; line < scale; line += 1) {
      const start = ((Number(y) * scale + line) * pixels + Number(x) * scale) * 4;
      for (let pixel = 0; pixel < Number(width) * scale; pixel += 1) {
        data.fill(0, start + pixel * 4, start + pixel * 4 + 3);
      }
    }
  }
  const text = decodeQr({ width: pixels, height: pixels, data }, { timeLimit: 60_000 });
  return { text, marginModules, side };
};
