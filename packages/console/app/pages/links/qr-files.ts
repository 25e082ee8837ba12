import encodeQr from "qr";

/** The quiet zone that scanners need, in modules (ISO/IEC 18004, section 6.3.8). */
const quietZone = 4;
/** Sharp enough for a poster. */
const pngSizeMin = 1_024;

/** Returns a QR code as an SVG file. */
const buildQrSvg = (text: string): string => {
  const modules = encodeModules(text);
  const size = modules.length;
  const path = modules
    .flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
    .join("");
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges">` +
    `<path fill="#fff" d="M0 0h${size}v${size}H0z"/><path fill="#000" d="${path}"/></svg>`
  );
};

/** Saves a QR code as a file. */
export const downloadQr = async (text: string, format: "SVG" | "PNG"): Promise<void> => {
  const file =
    format === "SVG"
      ? new Blob([buildQrSvg(text)], { type: "image/svg+xml" })
      : await drawQrPng(text);
  const url = URL.createObjectURL(file);
  const link = document.createElement("a");
  link.href = url;
  link.download = `payment-link.${format.toLowerCase()}`;
  link.click();
  URL.revokeObjectURL(url);
};

const drawQrPng = async (text: string): Promise<Blob> => {
  const modules = encodeModules(text);
  const scale = Math.ceil(pngSizeMin / modules.length);
  const canvas = document.createElement("canvas");
  canvas.width = modules.length * scale;
  canvas.height = modules.length * scale;
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("the browser cannot draw");
  context.fillStyle = "#fff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = "#000";
  for (const [y, row] of modules.entries()) {
    for (const [x, isDark] of row.entries()) {
      if (isDark) context.fillRect(x * scale, y * scale, scale, scale);
    }
  }
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) =>
      blob === null ? reject(new Error("the browser cannot draw")) : resolve(blob),
    );
  });
};

const encodeModules = (text: string): boolean[][] =>
  encodeQr(text, "raw", { ecc: "medium", border: quietZone });
