import type { RecentHour } from "../../api/operations.ts";
import { texts } from "./texts.ts";

const width = 96;
const height = 24;

/**
 * A chart of the attempts in recent hours. Failures are at the bottom of each bar, in the error
 * color.
 */
export const Sparkline = ({ hours }: { hours: readonly RecentHour[] }) => {
  const maxAttempts = Math.max(1, ...hours.map(({ delivered, failed }) => delivered + failed));
  const barWidth = width / Math.max(1, hours.length);
  const sumAttempts = (name: "delivered" | "failed") =>
    hours.reduce((total, hour) => total + hour[name], 0);
  return (
    <svg
      role="img"
      aria-label={texts.sparkline(sumAttempts("delivered"), sumAttempts("failed"))}
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
    >
      {hours.map(({ hour, delivered, failed }, index) => {
        const failedHeight = (failed / maxAttempts) * (height - 1);
        const deliveredHeight = (delivered / maxAttempts) * (height - 1);
        const x = index * barWidth;
        return (
          <g key={hour}>
            <rect
              x={x}
              y={height - 1}
              width={barWidth - 1}
              height={1}
              fill="var(--border-strong)"
            />
            <rect
              x={x}
              y={height - 1 - failedHeight}
              width={barWidth - 1}
              height={failedHeight}
              fill="var(--danger)"
            />
            <rect
              x={x}
              y={height - 1 - failedHeight - deliveredHeight}
              width={barWidth - 1}
              height={deliveredHeight}
              fill="var(--success)"
            />
          </g>
        );
      })}
    </svg>
  );
};
