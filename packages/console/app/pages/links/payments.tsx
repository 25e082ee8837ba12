import { addressOf } from "../../api/call.ts";
import type { OwnPaymentLink, PaymentData } from "../../api/operations.ts";
import { useCall } from "../../api/query.ts";
import { Badge } from "../../ui/badge.tsx";
import { showAmount, showTime, shorten } from "../../ui/format.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { Card } from "../../ui/page.tsx";
import { Pager, useOffset } from "../../ui/pager.tsx";
import styles from "../../ui/ui.module.css";
import { texts } from "./texts.ts";

const followMs = 5_000;

/** The payments of a link, newest first, page by page. */
export const Payments = ({ link }: { link: OwnPaymentLink }) => {
  const offset = useOffset("payments");
  const path = { id: link.id };
  const payments = useCall("listPayments", { path, query: { offset } }, { everyMs: followMs });
  return (
    <Card title={texts.payments}>
      <Loaded query={payments}>
        {(page) => (
          <>
            {page.data.length === 0 ? (
              <p className={styles["quiet"]}>{texts.noPayments}</p>
            ) : (
              <PaymentTable payments={page.data} symbol={link.token.symbol} />
            )}
            <Pager page={page} name="payments" />
            {page.data.length > 0 && (
              <a href={addressOf("exportOwnPayments", { query: { link: link.id } })} download>
                {texts.paymentsCsv}
              </a>
            )}
          </>
        )}
      </Loaded>
    </Card>
  );
};

type TableProps = { payments: readonly PaymentData[]; symbol: string };

const PaymentTable = ({ payments, symbol }: TableProps) => (
  <table className={styles["table"]}>
    <thead>
      <tr>
        <th>{texts.amount}</th>
        <th>{texts.state}</th>
        <th>{texts.when}</th>
        <th>{texts.sentBy}</th>
      </tr>
    </thead>
    <tbody>
      {payments.map((payment) => (
        <tr key={payment.id}>
          <td data-label={texts.amount}>
            {showAmount(payment.amount)} {payment.reason === "wrong_token" ? "" : symbol}
          </td>
          <td data-label={texts.state}>
            <PaymentState payment={payment} />
          </td>
          <td data-label={texts.when}>{showTime(payment.dateCreated)}</td>
          <td data-label={texts.sentBy}>
            <code title={payment.sourceTransaction ?? payment.id}>
              {shorten(payment.sourceTransaction ?? payment.id)}
            </code>
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);

const PaymentState = ({
  payment: { status, applied, reason, orphaned },
}: {
  payment: PaymentData;
}) => {
  if (orphaned === true) return <Badge tone="bad">{texts.orphaned}</Badge>;
  if (reason !== null) return <span className={styles["fault"]}>{texts.reasons[reason]}</span>;
  if (applied) return <Badge tone="good">{texts.counts}</Badge>;
  return status === "failed" ? (
    <Badge tone="bad">{texts.failed}</Badge>
  ) : (
    <Badge tone="warn">{texts.seen}</Badge>
  );
};
