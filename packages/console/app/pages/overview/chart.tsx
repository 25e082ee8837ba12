import { showAmount } from "../../ui/format.ts";
import { Table } from "../../ui/table.tsx";
import styles from "./overview.module.css";
import type { ReceivedToken } from "./received.ts";
import { texts } from "./texts.ts";

const width = 600;
const height = 120;

/** What came in by day, as bars; the table below says the same in numbers. */
export const Chart = ({ token: { symbol, total, days } }: { token: ReceivedToken }) => {
  // Money is rounded here alone: a bar is as high as a screen can show, the numbers below are exact.
  const most = Math.max(...days.map(({ amount }) => Number(amount)), Number.MIN_VALUE);
  const step = width / days.length;
  const paid = days.filter(({ paymentCount }) => paymentCount > 0).toReversed();
  return (
    <>
      <svg
        className={styles["chart"]}
        role="img"
        aria-label={texts.chart(symbol, showAmount(total))}
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
      >
        {days.map(({ day, amount }, index) => {
          const high = (Number(amount) / most) * (height - 2);
          return (
            <rect
              key={day}
              x={index * step + 1}
              y={height - 1 - high}
              width={step - 2}
              height={high + 1}
              fill="var(--accent)"
            >
              <title>{`${day}: ${showAmount(amount)} ${symbol}`}</title>
            </rect>
          );
        })}
      </svg>
      <details>
        <summary>{texts.table}</summary>
        <Table
          rows={paid.map((one) => ({ ...one, id: one.day }))}
          columns={[
            [texts.day, ({ day }) => day],
            [texts.amount, ({ amount }) => `${showAmount(amount)} ${symbol}`],
            [texts.payments, ({ paymentCount }) => paymentCount],
          ]}
        />
      </details>
    </>
  );
};
