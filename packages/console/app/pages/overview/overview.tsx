import { useState } from "react";
import { Link } from "react-router";
import type { Overview as OverviewData, OwnPaymentData } from "../../api/operations.ts";
import { useOperationQuery } from "../../api/query.ts";
import { useAccount } from "../../frame/session.ts";
import { Select } from "../../ui/field.tsx";
import { formatAmount, formatDateTime } from "../../ui/format.ts";
import { QueryView } from "../../ui/query-view.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { Table } from "../../ui/table.tsx";
import uiStyles from "../../ui/ui.module.css";
import { Chart } from "./chart.tsx";
import { Health } from "./health.tsx";
import styles from "./overview.module.css";
import { summarizeReceived } from "./received.ts";
import { Setup } from "./setup.tsx";
import { texts } from "./texts.ts";
import { UnmatchedDeposits } from "./unmatched-deposits.tsx";

const refetchIntervalMs = 30_000;
const dayCount = 30;

/**
 * The account's overview: unapplied payments, unmatched deposits, setup steps, received amounts and
 * integration health.
 */
const Overview = () => {
  const account = useAccount();
  const query = { days: dayCount };
  const options = { isEnabled: account.isReady, refetchIntervalMs };
  const overview = useOperationQuery("getOverview", { query }, options);
  return (
    <Page title={texts.title}>
      {overview.data !== undefined && overview.data.unapplied.count > 0 && (
        <Unapplied unapplied={overview.data.unapplied} />
      )}
      {account.isReady && <UnmatchedDeposits refetchIntervalMs={refetchIntervalMs} />}
      <Setup />
      {account.isReady && (
        <QueryView query={overview}>
          {(data) => (
            <>
              <Received data={data} now={overview.dataUpdatedAt} />
              <LinkCounts links={data.links} />
            </>
          )}
        </QueryView>
      )}
      <Health />
    </Page>
  );
};
export default Overview;

type BoundedCount = { count: number; hasMore: boolean };

const formatBoundedCount = ({ count, hasMore }: BoundedCount): string =>
  hasMore ? texts.moreThan(count) : formatAmount(String(count));

const Unapplied = ({ unapplied }: Pick<OverviewData, "unapplied">) => (
  <Card title={texts.unapplied}>
    <p>{texts.unappliedText(formatBoundedCount(unapplied))}</p>
    <Table
      rows={unapplied.payments}
      columns={[
        [texts.amount, ({ amount }) => formatAmount(amount)],
        [texts.reason, (payment) => <Reason payment={payment} />],
        [texts.timeColumn, ({ dateCreated }) => formatDateTime(dateCreated)],
      ]}
    />
  </Card>
);

const Reason = ({ payment: { reason, paymentLinkId } }: { payment: OwnPaymentData }) => (
  <>
    {reason !== null && texts.reasons[reason]}{" "}
    <Link to={`/links/${paymentLinkId}`}>{texts.viewLink}</Link>
  </>
);

const Received = ({ data, now }: { data: OverviewData; now: number }) => {
  const tokens = summarizeReceived(data, { now: new Date(now), dayCount });
  const [tokenId, setTokenId] = useState("");
  const selectedToken = tokens.find((token) => token.tokenId === tokenId) ?? tokens[0];
  return (
    <Card title={texts.received}>
      {selectedToken === undefined ? (
        <p className={uiStyles["quiet"]}>{texts.nothingReceived}</p>
      ) : (
        <>
          {tokens.length > 1 && (
            <Select
              label={texts.token}
              value={selectedToken.tokenId}
              onValueChange={setTokenId}
              options={tokens.map((token) => ({
                value: token.tokenId,
                text: `${token.symbol} · ${token.chain}`,
              }))}
            />
          )}
          <p>
            <strong>
              {formatAmount(selectedToken.total)} {selectedToken.symbol}
            </strong>{" "}
            <span className={uiStyles["quiet"]}>{selectedToken.chain}</span>
          </p>
          <Chart token={selectedToken} />
        </>
      )}
    </Card>
  );
};

const LinkCounts = ({ links }: Pick<OverviewData, "links">) => (
  <Card title={texts.links}>
    <dl className={styles["counts"]}>
      {(["active", "completed", "inactive"] as const).map((status) => (
        <div key={status}>
          <dt>
            <Link to={`/links?status=${status}`}>{texts.statuses[status]}</Link>
          </dt>
          <dd>{formatBoundedCount(links[status])}</dd>
        </div>
      ))}
    </dl>
  </Card>
);
