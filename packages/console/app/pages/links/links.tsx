import { Link, useSearchParams } from "react-router";
import { isRefused } from "../../api/api-error.ts";
import type { PaymentLinkData } from "../../api/operations.ts";
import { useCall } from "../../api/query.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { Select } from "../../ui/field.tsx";
import { showAmount, showTime } from "../../ui/format.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { Pager, useOffset } from "../../ui/pager.tsx";
import styles from "../../ui/ui.module.css";
import { LinkBadge } from "./link-badge.tsx";
import { texts } from "./texts.ts";

const statuses = ["active", "completed", "inactive"] as const;

/** The own payment links, newest first. The address names filter and page. */
const Links = () => {
  const [search, setSearch] = useSearchParams();
  const offset = useOffset();
  const status = statuses.find((known) => known === search.get("status"));
  const links = useCall("listOwnPaymentLinks", { query: { status, offset } });
  const filter = (value: string): void =>
    setSearch(value === "" ? new URLSearchParams() : new URLSearchParams({ status: value }));
  const isNotReady = isRefused(links.error, "PAYMENT_LINK_ACCOUNT_NOT_READY");
  const create = (
    <ButtonLink to="/links/new" look="primary">
      {texts.create}
    </ButtonLink>
  );
  if (isNotReady) return <NotReady />;
  return (
    <Page title={texts.title} actions={create}>
      <Card>
        <div className={styles["row"]}>
          <Select
            label={texts.status}
            value={status ?? ""}
            onPick={filter}
            options={[
              { value: "", text: texts.all },
              ...statuses.map((value) => ({ value, text: texts.statuses[value] })),
            ]}
          />
        </div>
        <Loaded query={links}>
          {(page) => (
            <>
              {page.data.length === 0 ? (
                <p className={styles["quiet"]}>
                  {status === undefined ? texts.none : texts.noneMatch}
                </p>
              ) : (
                <LinkTable links={page.data} />
              )}
              <Pager page={page} />
            </>
          )}
        </Loaded>
      </Card>
    </Page>
  );
};
export default Links;

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

const LinkTable = ({ links }: { links: readonly PaymentLinkData[] }) => (
  <table className={styles["table"]}>
    <thead>
      <tr>
        <th>{texts.amount}</th>
        <th>{texts.status}</th>
        <th>{texts.received}</th>
        <th>{texts.description}</th>
        <th>{texts.created}</th>
      </tr>
    </thead>
    <tbody>
      {links.map((link) => (
        <tr key={link.id}>
          <td data-label={texts.amount}>
            <Link to={`/links/${link.id}`}>
              {showAmount(link.toAmount)} {link.token.symbol}
            </Link>
          </td>
          <td data-label={texts.status}>
            <LinkBadge status={link.status} />
          </td>
          <td data-label={texts.received}>{showAmount(link.receivedAmount)}</td>
          <td data-label={texts.description}>
            <bdi>{link.description}</bdi>
          </td>
          <td data-label={texts.created}>{showTime(link.dateCreated)}</td>
        </tr>
      ))}
    </tbody>
  </table>
);
