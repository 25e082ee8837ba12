import { buildOperationUrl } from "../../api/call.ts";
import type { OwnPaymentLink, PaymentData } from "../../api/operations.ts";
import { useOperationQuery } from "../../api/query.ts";
import { Badge } from "../../ui/badge.tsx";
import { DownloadButton } from "../../ui/download-button.tsx";
import { formatAmount, formatDateTime, truncateMiddle } from "../../ui/format.ts";
import { QueryView } from "../../ui/query-view.tsx";
import { Card } from "../../ui/page.tsx";
import { Pager, useOffset } from "../../ui/pager.tsx";
import { Table } from "../../ui/table.tsx";
import styles from "../../ui/ui.module.css";
import { texts } from "./texts.ts";

const refetchIntervalMs = 5_000;

/** The payments of a link, newest first, in pages. */
export const Payments = ({ link }: { link: OwnPaymentLink }) => {
  const offset = useOffset("payments");
  const path = { id: link.id };
  const payments = useOperationQuery(
    "listPayments",
    { path, query: { offset } },
    { refetchIntervalMs },
  );
  return (
    <Card title={texts.payments}>
      <QueryView query={payments}>
        {(page) => (
          <>
            <PaymentTable payments={page.data} symbol={link.token.symbol} />
            <Pager page={page} name="payments" />
            {page.data.length > 0 && (
              <DownloadButton
                label={texts.downloadPaymentsCsv}
                href={buildOperationUrl("exportOwnPayments", { query: { link: link.id } })}
              />
            )}
          </>
        )}
      </QueryView>
    </Card>
  );
};

type TableProps = { payments: readonly PaymentData[]; symbol: string };

const PaymentTable = ({ payments, symbol }: TableProps) => (
  <Table
    rows={payments}
    emptyText={texts.noPayments}
    columns={[
      [
        texts.amount,
        ({ amount, reason }) => `${formatAmount(amount)} ${reason === "wrong_token" ? "" : symbol}`,
      ],
      [texts.paymentStatus, (payment) => <PaymentState payment={payment} />],
      [texts.timeColumn, ({ dateCreated }) => formatDateTime(dateCreated)],
      [
        texts.transactionLabel,
        ({ id, sourceTransaction }) => (
          <code title={sourceTransaction ?? id}>{truncateMiddle(sourceTransaction ?? id)}</code>
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
  if (applied) return <Badge tone="good">{texts.applied}</Badge>;
  return status === "failed" ? (
    <Badge tone="bad">{texts.failed}</Badge>
  ) : (
    <Badge tone="warn">{texts.processing}</Badge>
  );
};
