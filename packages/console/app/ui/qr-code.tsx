import encodeQr from "qr";

/** The quiet zone that scanners need, in modules (ISO/IEC 18004, section 6.3.8). */
const quietZone = 4;

/**
 * A QR code. It is dark on light in every theme, because some scanners cannot read inverted codes.
 */
export const QrCode = ({ text, label }: { text: string; label: string }) => {
  const modules = encodeQr(text, "raw", { ecc: "medium", border: quietZone });
  const path = modules
    .flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
    .join("");
  const size = modules.length;
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      width="176"
      height="176"
      shapeRendering="crispEdges"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
};
