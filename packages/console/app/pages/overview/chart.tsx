import { formatAmount } from "../../ui/format.ts";
import { Table } from "../../ui/table.tsx";
import styles from "./overview.module.css";
import type { ReceivedToken } from "./received.ts";
import { texts } from "./texts.ts";

const width = 600;
const height = 120;

/** A bar chart of the amounts received per day, with a table of the exact numbers. */
export const Chart = ({ token: { symbol, total, days } }: { token: ReceivedToken }) => {
  // The only place where amounts are rounded. It affects only bar heights; the table is exact.
  const maxAmount = Math.max(...days.map(({ amount }) => Number(amount)), Number.MIN_VALUE);
  const barWidth = width / days.length;
  const daysWithPayments = days.filter(({ paymentCount }) => paymentCount > 0).toReversed();
  return (
    <>
      <svg
        className={styles["chart"]}
        role="img"
        aria-label={texts.chart(symbol, formatAmount(total))}
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
      >
        {days.map(({ day, amount }, index) => {
          const barHeight = (Number(amount) / maxAmount) * (height - 2);
          return (
            <rect
              key={day}
              x={index * barWidth + 1}
              y={height - 1 - barHeight}
              width={barWidth - 2}
              height={barHeight + 1}
              fill="var(--accent)"
            >
              <title>{`${day}: ${formatAmount(amount)} ${symbol}`}</title>
            </rect>
          );
        })}
      </svg>
      <details>
        <summary>{texts.showAsTable}</summary>
        <Table
          rows={daysWithPayments.map((row) => ({ ...row, id: row.day }))}
          columns={[
            [texts.day, ({ day }) => day],
            [texts.amount, ({ amount }) => `${formatAmount(amount)} ${symbol}`],
            [texts.payments, ({ paymentCount }) => paymentCount],
          ]}
        />
      </details>
    </>
  );
};
