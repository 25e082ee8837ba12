import { Link, useLocation, useSearchParams } from "react-router";
import { hasApiErrorCode } from "../../api/api-error.ts";
import { buildOperationUrl } from "../../api/call.ts";
import type { PaymentLinkData } from "../../api/operations.ts";
import { useOperationQuery } from "../../api/query.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { DownloadButton } from "../../ui/download-button.tsx";
import { formatAmount, formatDateTime } from "../../ui/format.ts";
import { QueryView } from "../../ui/query-view.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { Table } from "../../ui/table.tsx";
import { texts as uiTexts } from "../../ui/texts.ts";
import styles from "../../ui/ui.module.css";
import { texts as depositTexts } from "../deposits/texts.ts";
import { isFiltered, parseLinkFilter } from "./filter.ts";
import { LinkBadge } from "./link-badge.tsx";
import { LinkFilterForm } from "./link-filter.tsx";
import { texts } from "./texts.ts";

/** The user's payment links, newest first. The URL holds the filter and the start of the page. */
const Links = () => {
  const [searchParams] = useSearchParams();
  const filter = parseLinkFilter(searchParams);
  const before = searchParams.get("before") ?? undefined;
  const links = useOperationQuery("listOwnPaymentLinks", { query: { ...filter, before } });
  const actions = (
    <>
      <ButtonLink to="/deposits">{depositTexts.title}</ButtonLink>
      <ButtonLink to="/links/new" variant="primary">
        {texts.create}
      </ButtonLink>
    </>
  );
  if (hasApiErrorCode(links.error, "PAYMENT_LINK_ACCOUNT_NOT_READY")) return <NotReady />;
  return (
    <Page title={texts.title} actions={actions}>
      <Card>
        <LinkFilterForm />
        <QueryView query={links}>
          {({ data, nextBefore }) => (
            <>
              <LinkTable
                links={data}
                emptyText={isFiltered(filter) ? texts.noMatches : texts.empty}
              />
              {data.length < pageSize && nextBefore !== null && (
                <Notice>{texts.partialSearch}</Notice>
              )}
              <LinksPager nextBefore={nextBefore} />
            </>
          )}
        </QueryView>
        <DownloadButton
          label={texts.downloadLinksCsv}
          href={buildOperationUrl("exportOwnPaymentLinks", { query: filter })}
        />
        <DownloadButton
          label={texts.downloadPaymentsCsv}
          href={buildOperationUrl("exportOwnPayments", { query: pickDateRange(filter) })}
        />
      </Card>
    </Page>
  );
};
export default Links;

const pageSize = 10;

const pickDateRange = ({ from, to }: ReturnType<typeof parseLinkFilter>) => ({ from, to });

/**
 * Links to the neighboring pages. A page starts after a given link, so new links do not shift it.
 * The history state holds the newer pages, because a page does not know where the one before it
 * starts.
 */
const LinksPager = ({ nextBefore }: { nextBefore: string | null }) => {
  const [searchParams] = useSearchParams();
  const { newerPages = [] } = (useLocation().state ?? {}) as { newerPages?: readonly string[] };
  const newerPage = newerPages.at(-1);
  const buildPageUrl = (before: string | null): string => {
    const nextParams = new URLSearchParams(searchParams);
    nextParams.delete("before");
    if (before !== null) nextParams.set("before", before);
    return `/links?${nextParams.toString()}`;
  };
  if (!searchParams.has("before") && nextBefore === null) return null;
  return (
    <nav className={styles["row"]} aria-label={uiTexts.pagination}>
      {searchParams.has("before") && (
        <ButtonLink to={buildPageUrl(null)}>{texts.newest}</ButtonLink>
      )}
      {newerPage !== undefined && (
        <ButtonLink to={newerPage} state={{ newerPages: newerPages.slice(0, -1) }}>
          {uiTexts.newer}
        </ButtonLink>
      )}
      {nextBefore !== null && (
        <ButtonLink
          to={buildPageUrl(nextBefore)}
          state={{ newerPages: [...newerPages, buildPageUrl(searchParams.get("before"))] }}
        >
          {uiTexts.older}
        </ButtonLink>
      )}
    </nav>
  );
};

const NotReady = () => (
  <Page title={texts.title}>
    <Card>
      <p>{texts.accountNotReady}</p>
      <div>
        <ButtonLink to="/" variant="primary">
          {texts.continueSetup}
        </ButtonLink>
      </div>
    </Card>
  </Page>
);

const LinkTable = ({
  links,
  emptyText,
}: {
  links: readonly PaymentLinkData[];
  emptyText: string;
}) => (
  <Table
    rows={links}
    emptyText={emptyText}
    columns={[
      [
        texts.amount,
        ({ id, toAmount, token }) => (
          <Link to={`/links/${id}`}>
            {formatAmount(toAmount)} {token.symbol}
          </Link>
        ),
      ],
      [texts.status, ({ status }) => <LinkBadge status={status} />],
      [texts.received, ({ receivedAmount }) => formatAmount(receivedAmount)],
      [texts.description, ({ description }) => <bdi>{description}</bdi>],
      [texts.created, ({ dateCreated }) => formatDateTime(dateCreated)],
    ]}
  />
);
