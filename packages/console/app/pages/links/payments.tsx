import { addressOf } from "../../api/call.ts";
import type { OwnPaymentLink, PaymentData } from "../../api/operations.ts";
import { useCall } from "../../api/query.ts";
import { Badge } from "../../ui/badge.tsx";
import { Download } from "../../ui/download.tsx";
import { showAmount, showTime, shorten } from "../../ui/format.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { Card } from "../../ui/page.tsx";
import { Pager, useOffset } from "../../ui/pager.tsx";
import { Table } from "../../ui/table.tsx";
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
            <PaymentTable payments={page.data} symbol={link.token.symbol} />
            <Pager page={page} name="payments" />
            {page.data.length > 0 && (
              <Download
                label={texts.paymentsCsv}
                address={addressOf("exportOwnPayments", { query: { link: link.id } })}
              />
            )}
          </>
        )}
      </Loaded>
    </Card>
  );
};

type TableProps = { payments: readonly PaymentData[]; symbol: string };

const PaymentTable = ({ payments, symbol }: TableProps) => (
  <Table
    rows={payments}
    none={texts.noPayments}
    columns={[
      [
        texts.amount,
        ({ amount, reason }) => `${showAmount(amount)} ${reason === "wrong_token" ? "" : symbol}`,
      ],
      [texts.state, (payment) => <PaymentState payment={payment} />],
      [texts.when, ({ dateCreated }) => showTime(dateCreated)],
      [
        texts.sentBy,
        ({ id, sourceTransaction }) => (
          <code title={sourceTransaction ?? id}>{shorten(sourceTransaction ?? id)}</code>
        ),
      ],
    ]}
  />
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
