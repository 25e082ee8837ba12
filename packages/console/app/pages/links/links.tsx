import { Link, useSearchParams } from "react-router";
import { isRefused } from "../../api/api-error.ts";
import { addressOf } from "../../api/call.ts";
import type { PaymentLinkData } from "../../api/operations.ts";
import { useCall } from "../../api/query.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { Download } from "../../ui/download.tsx";
import { showAmount, showTime } from "../../ui/format.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { Table } from "../../ui/table.tsx";
import { texts as uiTexts } from "../../ui/texts.ts";
import styles from "../../ui/ui.module.css";
import { texts as depositTexts } from "../deposits/texts.ts";
import { isFiltered, readFilter } from "./filter.ts";
import { LinkBadge } from "./link-badge.tsx";
import { LinkFilterForm } from "./link-filter.tsx";
import { texts } from "./texts.ts";

/** The own payment links, newest first. The address names what is chosen, and where the page begins. */
const Links = () => {
  const [search] = useSearchParams();
  const filter = readFilter(search);
  const before = search.get("before") ?? undefined;
  const links = useCall("listOwnPaymentLinks", { query: { ...filter, before } });
  const actions = (
    <>
      <ButtonLink to="/deposits">{depositTexts.title}</ButtonLink>
      <ButtonLink to="/links/new" look="primary">
        {texts.create}
      </ButtonLink>
    </>
  );
  if (isRefused(links.error, "PAYMENT_LINK_ACCOUNT_NOT_READY")) return <NotReady />;
  return (
    <Page title={texts.title} actions={actions}>
      <Card>
        <LinkFilterForm />
        <Loaded query={links}>
          {({ data, nextBefore }) => (
            <>
              <LinkTable links={data} none={isFiltered(filter) ? texts.noneMatch : texts.none} />
              {data.length < pageSize && nextBefore !== null && (
                <Notice>{texts.searchedPart}</Notice>
              )}
              <Ways nextBefore={nextBefore} />
            </>
          )}
        </Loaded>
        <Download
          label={texts.linksCsv}
          address={addressOf("exportOwnPaymentLinks", { query: filter })}
        />
        <Download
          label={texts.paymentsCsv}
          address={addressOf("exportOwnPayments", { query: periodOf(filter) })}
        />
      </Card>
    </Page>
  );
};
export default Links;

const pageSize = 10;

const periodOf = ({ from, to }: ReturnType<typeof readFilter>) => ({ from, to });

/** A page begins behind a link, so that links made meanwhile move nothing; Back leads to newer ones. */
const Ways = ({ nextBefore }: { nextBefore: string | null }) => {
  const [search] = useSearchParams();
  const at = (before: string | null): string => {
    const next = new URLSearchParams(search);
    next.delete("before");
    if (before !== null) next.set("before", before);
    return `/links?${next.toString()}`;
  };
  if (!search.has("before") && nextBefore === null) return null;
  return (
    <nav className={styles["row"]} aria-label={uiTexts.pages}>
      {search.has("before") && <ButtonLink to={at(null)}>{texts.newest}</ButtonLink>}
      {nextBefore !== null && <ButtonLink to={at(nextBefore)}>{texts.older}</ButtonLink>}
    </nav>
  );
};

const NotReady = () => (
  <Page title={texts.title}>
    <Card>
      <p>{texts.notReady}</p>
      <div>
        <ButtonLink to="/" look="primary">
          {texts.toSetup}
        </ButtonLink>
      </div>
    </Card>
  </Page>
);

const LinkTable = ({ links, none }: { links: readonly PaymentLinkData[]; none: string }) => (
  <Table
    rows={links}
    none={none}
    columns={[
      [
        texts.amount,
        ({ id, toAmount, token }) => (
          <Link to={`/links/${id}`}>
            {showAmount(toAmount)} {token.symbol}
          </Link>
        ),
      ],
      [texts.status, ({ status }) => <LinkBadge status={status} />],
      [texts.received, ({ receivedAmount }) => showAmount(receivedAmount)],
      [texts.description, ({ description }) => <bdi>{description}</bdi>],
      [texts.created, ({ dateCreated }) => showTime(dateCreated)],
    ]}
  />
);
