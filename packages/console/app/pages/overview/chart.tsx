import { useLayoutEffect, useRef, useState } from "react";
import { Table } from "../../ui/table.tsx";
import { formatTokenAmount } from "../../ui/token-amount.ts";
import { computeTicks, pickLabels } from "./chart-scale.ts";
import { formatDay, formatDayRange } from "./format-day.ts";
import styles from "./overview.module.css";
import type { ReceivedDay, ReceivedToken } from "./received.ts";
import { texts } from "./texts.ts";

const tickFormat = new Intl.NumberFormat(undefined, {
  notation: "compact",
  maximumSignificantDigits: 3,
});

/** The size of the chart in pixels, and the height of its text. */
type Size = { width: number; height: number; em: number };

/**
 * A bar chart of the amounts received per day. A slider selects a day, so that every number can be
 * reached by mouse, touch and keyboard.
 */
export const Chart = ({ received: { days, token, total } }: { received: ReceivedToken }) => {
  const { chart, size } = useSize();
  const [activeIndex, setActiveIndex] = useState<number>();
  const layout = computeLayout(size, days);
  const lastIndex = days.length - 1;
  const activeDay = activeIndex === undefined ? undefined : days[activeIndex];
  const select = (index: number) => setActiveIndex(Math.min(Math.max(index, 0), lastIndex));
  return (
    <div
      ref={chart}
      className={styles["chart"]}
      onPointerMove={(event) => {
        const { left } = event.currentTarget.getBoundingClientRect();
        select(Math.floor((event.clientX - left - layout.left) / layout.slotWidth));
      }}
      onPointerLeave={() => setActiveIndex(undefined)}
    >
      <Bars days={days} layout={layout} size={size} activeIndex={activeIndex} />
      <input
        type="range"
        className={styles["slider"]}
        style={{ insetInlineStart: layout.left }}
        aria-label={texts.chart(days.length, formatTokenAmount(total, token))}
        aria-valuetext={describeDay(activeDay ?? days[lastIndex], token)}
        min={0}
        max={lastIndex}
        value={activeIndex ?? lastIndex}
        onChange={(event) => select(event.currentTarget.valueAsNumber)}
        onFocus={() => setActiveIndex((index) => index ?? lastIndex)}
        onBlur={() => setActiveIndex(undefined)}
      />
      {activeDay !== undefined && activeIndex !== undefined && (
        <Tooltip
          day={activeDay}
          token={token}
          x={layout.left + (activeIndex + 0.5) * layout.slotWidth}
          chartWidth={size.width}
        />
      )}
    </div>
  );
};

type TooltipProps = {
  day: ReceivedDay;
  token: ReceivedToken["token"];
  x: number;
  chartWidth: number;
};

/** The numbers of a day. The slider has the same text for screen readers. */
const Tooltip = ({ day: { day, amount, paymentCount }, token, x, chartWidth }: TooltipProps) => (
  <div
    className={styles["tooltip"]}
    // At the edges of the chart, the tooltip is next to its bar instead of above it.
    style={{ left: x, translate: `${(-100 * x) / chartWidth}%` }}
    aria-hidden="true"
  >
    <span>{formatDayRange(day)}</span>
    <strong>{formatTokenAmount(amount, token)}</strong>
    <span>{texts.paymentCount(paymentCount)}</span>
  </div>
);

const describeDay = (day: ReceivedDay | undefined, token: ReceivedToken["token"]): string =>
  day === undefined
    ? ""
    : `${formatDayRange(day.day)}: ${formatTokenAmount(day.amount, token)}, ${texts.paymentCount(day.paymentCount)}`;

/** Returns the size of the chart, also after it has changed. */
const useSize = () => {
  const chart = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState<Size>({ width: 600, height: 200, em: 12 });
  useLayoutEffect(() => {
    const element = chart.current;
    if (element === null) return undefined;
    const measure = (): void => {
      const { width, height } = element.getBoundingClientRect();
      setSize({ width, height, em: Number.parseFloat(getComputedStyle(element).fontSize) });
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { chart, size };
};

type Layout = {
  ticks: { text: string; y: number }[];
  bars: { x: number; y: number; width: number; height: number }[];
  labels: number[];
  left: number;
  bottom: number;
  slotWidth: number;
};

/** Amounts are rounded only here, for the positions in the chart. The texts are exact. */
const computeLayout = ({ width, height, em }: Size, days: readonly ReceivedDay[]): Layout => {
  const values = days.map(({ amount }) => Number(amount));
  const tickValues = computeTicks(Math.max(...values));
  const tickTexts = tickValues.map((value) => tickFormat.format(value));
  const left = Math.max(...tickTexts.map(({ length }) => length)) * 0.62 * em + 0.75 * em;
  const top = 0.75 * em;
  const bottom = height - 2 * em;
  const slotWidth = Math.max(1, (width - left) / days.length);
  const barWidth = Math.max(1, Math.min(slotWidth * 0.72, 40));
  const toY = (value: number) => bottom - (value / (tickValues.at(-1) ?? 1)) * (bottom - top);
  return {
    ticks: tickValues.map((value, index) => ({ text: tickTexts[index] ?? "", y: toY(value) })),
    bars: values.map((value, index) => {
      // The smallest amount is still visible.
      const y = value > 0 ? Math.min(toY(value), bottom - 2) : bottom;
      const x = left + index * slotWidth + (slotWidth - barWidth) / 2;
      return { x, y, width: barWidth, height: bottom - y };
    }),
    labels: pickLabels(days.length, Math.floor((width - left) / (6 * em))),
    left,
    bottom,
    slotWidth,
  };
};

type BarsProps = {
  days: readonly ReceivedDay[];
  layout: Layout;
  size: Size;
  activeIndex: number | undefined;
};

const Bars = ({ days, layout, size: { width, height, em }, activeIndex }: BarsProps) => (
  <svg width={width} height={height} aria-hidden="true">
    {layout.ticks.map(({ text, y }) => (
      <g key={text}>
        <line className={styles["gridLine"]} x1={layout.left} x2={width} y1={y} y2={y} />
        <text x={layout.left - 0.75 * em} y={y} dy="0.35em" textAnchor="end">
          {text}
        </text>
      </g>
    ))}
    {layout.bars.map(({ x, ...bar }, index) => (
      <rect
        key={days[index]?.day}
        className={styles["bar"]}
        data-active={index === activeIndex}
        x={x}
        rx={Math.min(3, bar.width / 4, bar.height)}
        {...bar}
      />
    ))}
    {layout.labels.map((index) => (
      <text
        key={index}
        x={layout.left + (index + 0.5) * layout.slotWidth}
        y={height - 0.25 * em}
        textAnchor="middle"
      >
        {formatDay(days[index]?.day ?? "")}
      </text>
    ))}
  </svg>
);

/** The exact numbers of the chart, newest first. */
export const ReceivedTable = ({ received: { days, token } }: { received: ReceivedToken }) => (
  <details className={styles["data"]}>
    <summary>{texts.viewData}</summary>
    <Table
      rows={days
        .filter(({ paymentCount }) => paymentCount > 0)
        .toReversed()
        .map((row) => ({ ...row, id: row.day }))}
      emptyText={texts.nothingReceived}
      columns={[
        [texts.day, ({ day }) => formatDayRange(day), "date"],
        [texts.amount, ({ amount }) => formatTokenAmount(amount, token), "numeric"],
        [texts.payments, ({ paymentCount }) => paymentCount, "numeric"],
      ]}
    />
  </details>
);
