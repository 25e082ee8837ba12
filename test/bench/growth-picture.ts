type Line = { name: string; values: readonly number[] };

const size = { width: 860, height: 470 };
const plot = { left: 60, top: 30, right: 560, bottom: 430 };
const hueStep = 47;
const labelStepPx = 26;

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
  const positiveValues = lines.flatMap(({ values }) => values.filter((value) => value > 0));
  const [lowestPower, highestPower] = [
    Math.floor(log(Math.min(...positiveValues))),
    Math.ceil(log(Math.max(...positiveValues))),
  ];
  const [firstLog, lastLog] = [log(counts[0] ?? 1), log(counts.at(-1) ?? 10)];
  const x = (count: number): number =>
    round(
      plot.left + ((log(count) - firstLog) / (lastLog - firstLog || 1)) * (plot.right - plot.left),
    );
  const y = (value: number): number =>
    round(
      plot.bottom -
        ((log(value) - lowestPower) / (highestPower - lowestPower || 1)) * (plot.bottom - plot.top),
    );
  const powers = Array.from(
    { length: highestPower - lowestPower + 1 },
    (_, index) => 10 ** (lowestPower + index),
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${size.height}" font-family="sans-serif" font-size="12">`,
    `<rect width="100%" height="100%" fill="#fff"/><text x="${plot.left}" y="18">${title}</text>`,
    ...powers.flatMap((power) => [
      `<path d="M${plot.left} ${y(power)}H${plot.right}" stroke="#ddd"/>`,
      `<text x="${plot.left - 6}" y="${y(power) + 4}" text-anchor="end">${power}</text>`,
    ]),
    ...counts.map(
      (count) =>
        `<text x="${x(count)}" y="${plot.bottom + 18}" text-anchor="middle">${count.toLocaleString("en")}</text>`,
    ),
    ...lines.flatMap(({ name, values }, index) => {
      const color = `hsl(${(index * hueStep) % 360} 70% 40%)`;
      const points = counts.map(
        (count, valueIndex) =>
          `${x(count)},${y(Math.max(values[valueIndex] ?? 0, 10 ** lowestPower))}`,
      );
      const labelY = plot.top + 8 + index * labelStepPx;
      return [
        `<polyline points="${points.join(" ")}" fill="none" stroke="${color}" stroke-width="2"/>`,
        `<path d="M${plot.right + 20} ${labelY - 4}h18" stroke="${color}" stroke-width="3"/>`,
        `<text x="${plot.right + 46}" y="${labelY}">${name}</text>`,
      ];
    }),
    "</svg>",
    "",
  ].join("\n");
};

const log = (value: number): number => Math.log10(value);
const round = (value: number): number => Math.round(value * 10) / 10;
