type Line = { name: string; values: readonly number[] };

/** A chart with one or more lines that share a time axis and a unit. */
export type Panel = { title: string; lines: readonly Line[] };

const width = 860;
const panelHeight = 150;
const plot = { left: 60, right: 640, top: 28, bottom: 125 };
const labelStepPx = 18;
const hueStep = 67;

/**
 * Draws the charts below one another, each from the first to the last minute. Each vertical axis
 * starts at 0, so small variations look small.
 */
export const drawTimeline = (title: string, minutes: number, panels: readonly Panel[]): string => {
  const height = panelHeight * panels.length + 50;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="100%" height="100%" fill="#fff"/><text x="${plot.left}" y="18" font-weight="bold">${title}</text>`,
    ...panels.flatMap((panel, index) => [
      `<g transform="translate(0 ${20 + index * panelHeight})">`,
      ...drawPanel(panel),
      "</g>",
    ]),
    ...Array.from({ length: Math.floor(minutes) + 1 }, (_, minute) => {
      const x = round(plot.left + (minute / minutes) * (plot.right - plot.left));
      return `<text x="${x}" y="${height - 12}" text-anchor="middle">${minute} min</text>`;
    }),
    "</svg>",
    "",
  ].join("\n");
};

const drawPanel = ({ title, lines }: Panel): string[] => {
  const axisMax = roundUpToNice(Math.max(...lines.flatMap(({ values }) => values)));
  const x = (index: number, count: number): number =>
    round(plot.left + ((index + 0.5) / count) * (plot.right - plot.left));
  const y = (value: number): number =>
    round(plot.bottom - (value / axisMax) * (plot.bottom - plot.top));
  return [
    `<text x="${plot.left}" y="20">${title}</text>`,
    ...[0, axisMax / 2, axisMax].flatMap((value) => [
      `<path d="M${plot.left} ${y(value)}H${plot.right}" stroke="#ddd"/>`,
      `<text x="${plot.left - 6}" y="${y(value) + 4}" text-anchor="end">${value}</text>`,
    ]),
    ...lines.flatMap(({ name, values }, index) => {
      const color = `hsl(${(index * hueStep) % 360} 70% 40%)`;
      const points = values.map(
        (value, valueIndex) => `${x(valueIndex, values.length)},${y(value)}`,
      );
      const labelY = plot.top + 8 + index * labelStepPx;
      return [
        `<polyline points="${points.join(" ")}" fill="none" stroke="${color}" stroke-width="1.5"/>`,
        `<path d="M${plot.right + 14} ${labelY - 4}h18" stroke="${color}" stroke-width="3"/>`,
        `<text x="${plot.right + 38}" y="${labelY}">${name}</text>`,
      ];
    }),
  ];
};

/** Rounds up to the next number in the series 1, 2, 5, 10, 20 and so on. */
const roundUpToNice = (value: number): number => {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1e-3)));
  return [1, 2, 5].map((step) => step * power).find((step) => step >= value) ?? 10 * power;
};

const round = (value: number): number => Math.round(value * 10) / 10;
