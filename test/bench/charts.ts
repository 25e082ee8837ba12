/** A line of a chart. */
export type Line = { name: string; values: readonly number[] };

type Scale = (value: number) => number;
type Plot = { left: number; right: number; top: number; bottom: number };

const width = 860;
const panelHeight = 150;

/**
 * Draws a log–log chart of each operation's cost by the number of links and payments. A flat line
 * means that the cost does not grow. Each item of `values` belongs to the item of `counts` at the
 * same position.
 */
export const drawGrowth = (
  title: string,
  counts: readonly number[],
  lines: readonly Line[],
): string => {
  const plot = { left: 60, top: 30, right: 560, bottom: 430 };
  const values = lines.flatMap((line) => line.values.filter((value) => value > 0));
  const lowest = Math.floor(Math.log10(Math.min(...values)));
  const highest = Math.ceil(Math.log10(Math.max(...values)));
  const xOfLog = scale(counts.map(Math.log10), plot.left, plot.right);
  const yOfLog = scale([lowest, highest], plot.bottom, plot.top);
  const x: Scale = (index) => xOfLog(Math.log10(counts[index] ?? 1));
  const y: Scale = (value) => yOfLog(Math.max(Math.log10(value), lowest));
  const ticks = Array.from({ length: highest - lowest + 1 }, (_, index) => 10 ** (lowest + index));
  return drawSvg(470, [
    `<text x="${plot.left}" y="18">${title}</text>`,
    ...drawTicks(plot, ticks, y),
    ...counts.map(
      (count, index) =>
        `<text x="${x(index)}" y="${plot.bottom + 18}" text-anchor="middle">${count.toLocaleString("en")}</text>`,
    ),
    ...drawLines(plot, lines, { x, y, labelStepPx: 26, hueStep: 47 }),
  ]);
};

/**
 * Draws the charts below one another, each from the first to the last minute. Each vertical axis
 * starts at 0, so small variations look small.
 */
export const drawTimeline = (
  title: string,
  minutes: number,
  panels: readonly { title: string; lines: readonly Line[] }[],
): string => {
  const plot = { left: 60, right: 640, top: 28, bottom: 125 };
  const height = panelHeight * panels.length + 50;
  const xOfMinute = scale([0, minutes], plot.left, plot.right);
  return drawSvg(height, [
    `<text x="${plot.left}" y="18" font-weight="bold">${title}</text>`,
    ...panels.flatMap(({ title, lines }, index) => {
      const axisMax = roundUpToNice(Math.max(...lines.flatMap(({ values }) => values)));
      const x = scale([-0.5, (lines[0]?.values.length ?? 1) - 0.5], plot.left, plot.right);
      const y = scale([0, axisMax], plot.bottom, plot.top);
      return [
        `<g transform="translate(0 ${20 + index * panelHeight})">`,
        `<text x="${plot.left}" y="20">${title}</text>`,
        ...drawTicks(plot, [0, axisMax / 2, axisMax], y),
        ...drawLines(plot, lines, { x, y, labelStepPx: 18, hueStep: 67 }),
        "</g>",
      ];
    }),
    ...Array.from(
      { length: Math.floor(minutes) + 1 },
      (_, minute) =>
        `<text x="${xOfMinute(minute)}" y="${height - 12}" text-anchor="middle">${minute} min</text>`,
    ),
  ]);
};

const drawSvg = (height: number, elements: readonly string[]): string =>
  [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    '<rect width="100%" height="100%" fill="#fff"/>',
    ...elements,
    "</svg>",
    "",
  ].join("\n");

/** Maps the range of the values to the pixels from `start` to `end`. */
const scale = (values: readonly number[], start: number, end: number): Scale => {
  const [min, max] = [Math.min(...values), Math.max(...values)];
  return (value) =>
    Math.round((start + ((value - min) / (max - min || 1)) * (end - start)) * 10) / 10;
};

const drawTicks = (plot: Plot, ticks: readonly number[], y: Scale): string[] =>
  ticks.flatMap((tick) => [
    `<path d="M${plot.left} ${y(tick)}H${plot.right}" stroke="#ddd"/>`,
    `<text x="${plot.left - 6}" y="${y(tick) + 4}" text-anchor="end">${tick}</text>`,
  ]);

/** Draws the lines, and their names to the right of the plot. `x` maps the index of a value. */
const drawLines = (
  plot: Plot,
  lines: readonly Line[],
  { hueStep, labelStepPx, x, y }: { x: Scale; y: Scale; labelStepPx: number; hueStep: number },
): string[] =>
  lines.flatMap(({ name, values }, index) => {
    const color = `hsl(${(index * hueStep) % 360} 70% 40%)`;
    const points = values.map((value, valueIndex) => `${x(valueIndex)},${y(value)}`);
    const labelY = plot.top + 8 + index * labelStepPx;
    return [
      `<polyline points="${points.join(" ")}" fill="none" stroke="${color}" stroke-width="2"/>`,
      `<path d="M${plot.right + 14} ${labelY - 4}h18" stroke="${color}" stroke-width="3"/>`,
      `<text x="${plot.right + 38}" y="${labelY}">${name}</text>`,
    ];
  });

/** Rounds up to the next number in the series 1, 2, 5, 10, 20 and so on. */
const roundUpToNice = (value: number): number => {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1e-3)));
  return [1, 2, 5].map((step) => step * power).find((step) => step >= value) ?? 10 * power;
};
