import { plus } from "@payment-links/design/icons";
import { Link } from "react-router";
import type { Overview as OverviewData } from "../../api/operations.ts";
import { isFirstLoad, useOperationQuery } from "../../api/query.ts";
import { useMissingPasskey } from "../../ceremonies/missing-passkey.ts";
import { useIsReady } from "../../frame/session.ts";
import { isOfMode, mode } from "../../mode.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { listAttention } from "./attention.ts";
import { AttentionStrip } from "./attention-strip.tsx";
import styles from "./overview.module.css";
import { ReceivedCard } from "./received-card.tsx";
import { dayCounts } from "./received.ts";
import { RecentPayments } from "./recent-payments.tsx";
import { DeveloperSetup, Setup, useSetup } from "./setup.tsx";
import { formatBoundedCount } from "./format-bounded-count.ts";
import { texts } from "./texts.ts";

const refetchIntervalMs = 30_000;

/** Two of the longest periods, so that each range can be compared with the one before it. */
const queriedDayCount = 2 * Math.max(...dayCounts);

/** The account's overview: what needs attention, received amounts, payments and setup steps. */
const Overview = () => {
  const isReady = useIsReady();
  const setup = useSetup();
  const { overview, ...data } = useOverviewData();
  const newLinkButton = (
    <ButtonLink to="/links/new" variant="primary" icon={plus}>
      {texts.newLink}
    </ButtonLink>
  );
  return (
    <Page title={texts.title} {...(isReady ? { actions: newLinkButton } : {})}>
      {/* Nothing is shown until all of it is known, so that nothing moves down later. */}
      {data.isFirstLoad || setup.isFirstLoad ? (
        <Skeleton height="30rem" />
      ) : (
        <>
          <AttentionStrip items={data.attentionItems} setup={setup} />
          <Setup setup={setup} />
          {isReady && (
            <QueryView query={overview}>
              {(figures) => <Figures data={figures} now={overview.dataUpdatedAt} />}
            </QueryView>
          )}
          <DeveloperSetup setup={setup} />
        </>
      )}
    </Page>
  );
};
export default Overview;

const useOverviewData = () => {
  const isReady = useIsReady();
  const options = { isEnabled: isReady, refetchIntervalMs };
  const query = { days: queriedDayCount, mode };
  const overview = useOperationQuery("getOverview", { query }, options);
  const deposits = useOperationQuery("listDeposits", { query: { mode } }, options);
  const endpoints = useOperationQuery("listWebhookEndpoints", {}, { refetchIntervalMs });
  const keys = useOperationQuery("listApiKeys", {});
  const passkey = useMissingPasskey();
  const attentionItems = listAttention({
    unapplied: overview.data?.unapplied,
    deposits: deposits.data,
    endpoints: endpoints.data?.data.filter(isOfMode),
    keys: keys.data?.data.filter(isOfMode),
    isPasskeyMissing: passkey.isMissing,
    now: keys.dataUpdatedAt,
  });
  const queries = isReady ? [overview, deposits, endpoints, keys] : [endpoints, keys];
  return {
    attentionItems,
    isFirstLoad: isFirstLoad(queries) || passkey.isFirstLoad,
    overview,
  };
};

const Figures = ({ data, now }: { data: OverviewData; now: number }) => (
  <>
    <ReceivedCard data={data} now={now} />
    <div className={styles["columns"]}>
      {data.recentPayments.length > 0 && <RecentPayments payments={data.recentPayments} />}
      <LinkCounts links={data.links} />
    </div>
  </>
);

const LinkCounts = ({ links }: Pick<OverviewData, "links">) => (
  <Card title={texts.links}>
    <dl className={styles["counts"]}>
      <div>
        <dt>
          <Link to="/links?status=open">{texts.open}</Link>
        </dt>
        <dd>{formatBoundedCount(links.active)}</dd>
      </div>
      <div>
        <dt>
          <Link to="/links?status=paid">{texts.paid}</Link>
        </dt>
        <dd>{formatBoundedCount(links.completed)}</dd>
      </div>
      <div>
        <dt>{texts.ended}</dt>
        <dd>{formatBoundedCount(links.inactive)}</dd>
      </div>
    </dl>
  </Card>
);
