import {
  chevronLeft,
  chevronRight,
  link as linkIcon,
  plus,
  search,
} from "@payment-links/design/icons";
import { Link, useLocation, useSearchParams } from "react-router";
import { hasApiErrorCode } from "../../api/api-error.ts";
import type { OwnPaymentLinkData } from "../../api/operations.ts";
import { useOperationQuery } from "../../api/query.ts";
import { mode } from "../../mode.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { formatDateTime } from "../../ui/format.ts";
import { Icon } from "../../ui/icon.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { SkeletonTable } from "../../ui/skeleton.tsx";
import { texts as uiTexts } from "../../ui/texts.ts";
import { formatTokenAmount, formatTokenNumber } from "../../ui/token-amount.ts";
import uiStyles from "../../ui/ui.module.css";
import { texts as depositTexts } from "../deposits/texts.ts";
import { ExportPanel } from "./export-panel.tsx";
import { buildListUrl, isFiltered, parseLinkFilter } from "./filter.ts";
import { LinkFilters } from "./link-filter.tsx";
import { LinkBadge } from "./link-badge.tsx";
import { getLinkProgress } from "./progress.ts";
import { RowTable } from "./row-table.tsx";
import styles from "./links.module.css";
import { texts } from "./texts.ts";

const pageSize = 10;

/** The user's payment links, newest first. The URL holds the filter and the start of the page. */
const Links = () => {
  const [searchParams] = useSearchParams();
  const filter = parseLinkFilter(searchParams);
  const before = searchParams.get("before") ?? undefined;
  const links = useOperationQuery("listOwnPaymentLinks", { query: { ...filter, mode, before } });
  const actions = (
    <>
      <ExportPanel filter={filter} />
      <ButtonLink to="/links/new" variant="primary" icon={plus}>
        {texts.create}
      </ButtonLink>
    </>
  );
  if (hasApiErrorCode(links.error, "PAYMENT_LINK_ACCOUNT_NOT_READY")) return <NotReady />;
  return (
    <Page title={texts.title} actions={actions}>
      <Card>
        <LinkFilters />
        <QueryView query={links} placeholder={<SkeletonTable rows={pageSize} />}>
          {({ data, nextBefore }) => (
            <>
              {data.length > 0 ? (
                <RowTable rows={data.map(toRow)} dateTitle={texts.created} />
              ) : (
                <NoLinks isFiltered={isFiltered(filter) || before !== undefined} />
              )}
              {data.length < pageSize && nextBefore !== null && (
                <Notice>{texts.partialSearch}</Notice>
              )}
              <LinksPager nextBefore={nextBefore} />
            </>
          )}
        </QueryView>
      </Card>
      <p className={styles["missing"]}>
        {texts.missingPayment} <Link to="/deposits">{depositTexts.title}</Link>
      </p>
    </Page>
  );
};
export default Links;

const toRow = (link: OwnPaymentLinkData) => ({
  id: link.id,
  to: `/links/${link.id}`,
  description: link.description,
  amount: formatTokenAmount(link.toAmount, link.token),
  note: describeDifference(link),
  status: <LinkBadge link={link} />,
  date: formatDateTime(link.dateCreated),
});

/** Describes what was paid of a link if it is neither nothing nor exactly its amount. */
const describeDifference = (link: OwnPaymentLinkData): string | undefined => {
  const { missingAmount, excessAmount } = getLinkProgress(link);
  const { receivedAmount, token } = link;
  if (excessAmount !== undefined) return texts.excess(formatTokenNumber(excessAmount, token));
  if (missingAmount === undefined || receivedAmount === "0") return undefined;
  return texts.partReceived(formatTokenNumber(receivedAmount, token));
};

const NoLinks = ({ isFiltered }: { isFiltered: boolean }) =>
  isFiltered ? (
    <EmptyState icon={search} title={texts.noMatches}>
      {texts.noMatchesHint}
    </EmptyState>
  ) : (
    <EmptyState
      icon={linkIcon}
      title={texts.emptyTitle}
      action={
        <ButtonLink to="/links/new" icon={plus}>
          {texts.create}
        </ButtonLink>
      }
    >
      {mode === "test" ? texts.emptyTest : texts.empty}
    </EmptyState>
  );

/**
 * Links to the neighboring pages. A page starts after a given link, so new links do not shift it.
 * The history state holds the newer pages, because a page does not know where the one before it
 * starts.
 */
const LinksPager = ({ nextBefore }: { nextBefore: string | null }) => {
  const [searchParams] = useSearchParams();
  const { newerPages = [] } = (useLocation().state ?? {}) as { newerPages?: readonly string[] };
  const newerPage = newerPages.at(-1);
  const buildPageUrl = (before: string | null): string =>
    buildListUrl(searchParams, { before: before ?? "" });
  if (!searchParams.has("before") && nextBefore === null) return null;
  return (
    <nav className={uiStyles["pager"]} aria-label={uiTexts.pagination}>
      {searchParams.has("before") && (
        <ButtonLink to={buildPageUrl(null)} variant="quiet">
          {texts.newest}
        </ButtonLink>
      )}
      {newerPage !== undefined && (
        <ButtonLink to={newerPage} state={{ newerPages: newerPages.slice(0, -1) }}>
          <Icon node={chevronLeft} />
          {uiTexts.newer}
        </ButtonLink>
      )}
      {nextBefore !== null && (
        <ButtonLink
          to={buildPageUrl(nextBefore)}
          state={{ newerPages: [...newerPages, buildPageUrl(searchParams.get("before"))] }}
        >
          {uiTexts.older}
          <Icon node={chevronRight} />
        </ButtonLink>
      )}
    </nav>
  );
};

const NotReady = () => (
  <Page title={texts.title}>
    <Card>
      <EmptyState
        icon={linkIcon}
        title={texts.emptyTitle}
        action={
          <ButtonLink to="/" variant="primary">
            {texts.continueSetup}
          </ButtonLink>
        }
      >
        {mode === "test" ? texts.accountNotReadyTest : texts.accountNotReady}
      </EmptyState>
    </Card>
  </Page>
);
