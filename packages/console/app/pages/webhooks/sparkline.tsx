import type { RecentHour } from "../../api/operations.ts";
import { texts } from "./texts.ts";

const width = 96;
const height = 24;

/** How the attempts of the last hours ended: failures stand below, in the colour of what is wrong. */
export const Sparkline = ({ hours }: { hours: readonly RecentHour[] }) => {
  const most = Math.max(1, ...hours.map(({ delivered, failed }) => delivered + failed));
  const step = width / Math.max(1, hours.length);
  const sum = (name: "delivered" | "failed") => hours.reduce((all, hour) => all + hour[name], 0);
  return (
    <svg
      role="img"
      aria-label={texts.sparkline(sum("delivered"), sum("failed"))}
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
    >
      {hours.map(({ hour, delivered, failed }, index) => {
        const bad = (failed / most) * (height - 1);
        const good = (delivered / most) * (height - 1);
        const x = index * step;
        return (
          <g key={hour}>
            <rect x={x} y={height - 1} width={step - 1} height={1} fill="var(--edge)" />
            <rect x={x} y={height - 1 - bad} width={step - 1} height={bad} fill="var(--bad)" />
            <rect
              x={x}
              y={height - 1 - bad - good}
              width={step - 1}
              height={good}
              fill="var(--good)"
            />
          </g>
        );
      })}
    </svg>
  );
};
