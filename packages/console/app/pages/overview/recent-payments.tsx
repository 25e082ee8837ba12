import { Link } from "react-router";
import type { Overview } from "../../api/operations.ts";
import { formatAmount, formatDateTime } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { formatTokenAmount } from "../../ui/token-amount.ts";
import { PaymentBadge } from "../links/payment-badge.tsx";
import { RowTable } from "../links/row-table.tsx";
import styles from "./overview.module.css";
import { texts } from "./texts.ts";

/** The newest payments. Each row opens the payment's link. */
export const RecentPayments = ({ payments }: { payments: Overview["recentPayments"] }) => {
  const viewLinks = (
    <Link className={styles["more"]} to="/links">
      {texts.viewLinks}
    </Link>
  );
  return (
    <Card title={texts.recentPayments} actions={viewLinks}>
      <RowTable rows={payments.map(toRow)} dateTitle={texts.date} />
    </Card>
  );
};

const toRow = (payment: Overview["recentPayments"][number]) => {
  const { id, amount, dateCreated, description, paymentLinkId, token } = payment;
  return {
    id,
    to: `/links/${paymentLinkId}`,
    description,
    amount: token === null ? formatAmount(amount) : formatTokenAmount(amount, token),
    status: <PaymentBadge payment={payment} />,
    date: formatDateTime(dateCreated),
  };
};
