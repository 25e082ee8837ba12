import { showAmount } from "../../ui/format.ts";
import uiStyles from "../../ui/ui.module.css";
import styles from "./overview.module.css";
import type { ReceivedToken } from "./received.ts";
import { texts } from "./texts.ts";

const width = 600;
const height = 120;

/** What came in by day, as bars; the table below says the same in numbers. */
export const Chart = ({ token: { symbol, total, days } }: { token: ReceivedToken }) => {
  // How high a bar stands needs no more digits than a screen has.
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
        <table className={uiStyles["table"]}>
          <thead>
            <tr>
              <th>{texts.day}</th>
              <th>{texts.amount}</th>
              <th>{texts.payments}</th>
            </tr>
          </thead>
          <tbody>
            {paid.map(({ day, amount, paymentCount }) => (
              <tr key={day}>
                <td data-label={texts.day}>{day}</td>
                <td data-label={texts.amount}>
                  {showAmount(amount)} {symbol}
                </td>
                <td data-label={texts.payments}>{paymentCount}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </>
  );
};
