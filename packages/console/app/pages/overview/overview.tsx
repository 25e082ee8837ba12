import { useState } from "react";
import { Link } from "react-router";
import type { Overview as OverviewData, OwnPaymentData } from "../../api/operations.ts";
import { useCall } from "../../api/query.ts";
import { useAccount } from "../../frame/session.ts";
import { Select } from "../../ui/field.tsx";
import { showAmount, showTime } from "../../ui/format.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { Table } from "../../ui/table.tsx";
import uiStyles from "../../ui/ui.module.css";
import { Chart } from "./chart.tsx";
import { Health } from "./health.tsx";
import styles from "./overview.module.css";
import { readReceived } from "./received.ts";
import { Setup } from "./setup.tsx";
import { texts } from "./texts.ts";
import { WaitingDeposits } from "./waiting-deposits.tsx";

const followMs = 30_000;
const dayCount = 30;

/** Where an account stands: what is missing, money that does not count, what came in, what fails. */
const Overview = () => {
  const account = useAccount();
  const query = { days: dayCount };
  const options = { isWanted: account.isReady, everyMs: followMs };
  const overview = useCall("getOverview", { query }, options);
  return (
    <Page title={texts.title}>
      {overview.data !== undefined && overview.data.unapplied.count > 0 && (
        <Unapplied unapplied={overview.data.unapplied} />
      )}
      {account.isReady && <WaitingDeposits everyMs={followMs} />}
      <Setup />
      {account.isReady && (
        <Loaded query={overview}>
          {(data) => (
            <>
              <Received data={data} now={overview.dataUpdatedAt} />
              <Counts links={data.links} />
            </>
          )}
        </Loaded>
      )}
      <Health />
    </Page>
  );
};
export default Overview;

type Count = { count: number; hasMore: boolean };

const countText = ({ count, hasMore }: Count): string =>
  hasMore ? texts.more(count) : showAmount(String(count));

const Unapplied = ({ unapplied }: Pick<OverviewData, "unapplied">) => (
  <Card title={texts.unapplied}>
    <p>{texts.unappliedText(countText(unapplied))}</p>
    <Table
      rows={unapplied.payments}
      columns={[
        [texts.amount, ({ amount }) => showAmount(amount)],
        [texts.reason, (payment) => <Reason payment={payment} />],
        [texts.when, ({ dateCreated }) => showTime(dateCreated)],
      ]}
    />
  </Card>
);

const Reason = ({ payment: { reason, paymentLinkId } }: { payment: OwnPaymentData }) => (
  <>
    {reason !== null && texts.reasons[reason]}{" "}
    <Link to={`/links/${paymentLinkId}`}>{texts.toLink}</Link>
  </>
);

const Received = ({ data, now }: { data: OverviewData; now: number }) => {
  const tokens = readReceived(data, { now: new Date(now), dayCount });
  const [tokenId, setTokenId] = useState("");
  const shown = tokens.find((one) => one.tokenId === tokenId) ?? tokens[0];
  return (
    <Card title={texts.received}>
      {shown === undefined ? (
        <p className={uiStyles["quiet"]}>{texts.nothingReceived}</p>
      ) : (
        <>
          {tokens.length > 1 && (
            <Select
              label={texts.token}
              value={shown.tokenId}
              onPick={setTokenId}
              options={tokens.map((one) => ({
                value: one.tokenId,
                text: `${one.symbol} · ${one.chain}`,
              }))}
            />
          )}
          <p>
            <strong>
              {showAmount(shown.total)} {shown.symbol}
            </strong>{" "}
            <span className={uiStyles["quiet"]}>{shown.chain}</span>
          </p>
          <Chart token={shown} />
        </>
      )}
    </Card>
  );
};

const Counts = ({ links }: Pick<OverviewData, "links">) => (
  <Card title={texts.links}>
    <dl className={styles["counts"]}>
      {(["active", "completed", "inactive"] as const).map((status) => (
        <div key={status}>
          <dt>
            <Link to={`/links?status=${status}`}>{texts.statuses[status]}</Link>
          </dt>
          <dd>{countText(links[status])}</dd>
        </div>
      ))}
    </dl>
  </Card>
);
