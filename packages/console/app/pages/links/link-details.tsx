import { useState } from "react";
import { useParams } from "react-router";
import type { OwnPaymentLink } from "../../api/operations.ts";
import { useOperationQuery, useOperationMutation } from "../../api/query.ts";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { formatAmount, formatDateTime } from "../../ui/format.ts";
import { QueryView } from "../../ui/query-view.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Card, Page } from "../../ui/page.tsx";
import styles from "../../ui/ui.module.css";
import { LinkBadge } from "./link-badge.tsx";
import { LinkDeliveries } from "./link-deliveries.tsx";
import { Payments } from "./payments.tsx";
import { ShareCard } from "./share.tsx";
import { Timeline } from "./timeline.tsx";
import { texts } from "./texts.ts";

const refetchIntervalMs = 5_000;

/**
 * The gap limit of most Bitcoin wallets: how many unused addresses in a row they check for
 * payments.
 */
const addressGapMax = 20;

/** One link with its status, payments and actions. */
const LinkDetails = () => {
  const { id = "" } = useParams();
  const link = useOperationQuery("getOwnPaymentLink", { path: { id } }, { refetchIntervalMs });
  return (
    <QueryView query={link} pageTitle={texts.linkTitle}>
      {(data) => <LinkView link={data} />}
    </QueryView>
  );
};
export default LinkDetails;

const LinkView = ({ link }: { link: OwnPaymentLink }) => {
  const [isConfirming, setConfirming] = useState(false);
  const deactivateLink = useOperationMutation(
    "deactivatePaymentLink",
    "getOwnPaymentLink",
    "listOwnPaymentLinks",
  );
  const { toAmount, description, maxUsage, status, token, addressGap, unsendableRemainder } = link;
  const isUnderpaid = status === "completed" && isLessThan(link.receivedAmount, toAmount);
  const actions = (
    <>
      <ButtonLink to="/links/new" state={{ toAmount, description, maxUsage }}>
        {texts.duplicate}
      </ButtonLink>
      {status === "active" && (
        <Button variant="danger" onPress={() => setConfirming(true)}>
          {texts.deactivate}
        </Button>
      )}
    </>
  );
  return (
    <Page title={`${formatAmount(toAmount)} ${token.symbol}`} actions={actions}>
      {(addressGap ?? 0) > addressGapMax && (
        <Notice tone="warn">{texts.addressGapWarning(String(addressGap))}</Notice>
      )}
      {status === "active" && unsendableRemainder !== undefined && (
        <Notice tone="warn">
          <p>
            {texts.unsendableRemainder(
              `${formatAmount(unsendableRemainder.amount)} ${token.symbol}`,
              `${formatAmount(unsendableRemainder.smallestPayment)} ${token.symbol}`,
            )}
          </p>
          <div>
            <Button onPress={() => setConfirming(true)}>{texts.deactivateLink}</Button>
          </div>
        </Notice>
      )}
      {isUnderpaid && <Notice tone="warn">{texts.underpaid}</Notice>}
      <Card>
        <LinkProperties link={link} />
      </Card>
      {status === "active" && <ShareCard url={link.url} />}
      <Timeline linkId={link.id} />
      <Payments link={link} />
      <LinkDeliveries linkId={link.id} />
      {isConfirming && (
        <ConfirmDialog
          title={texts.deactivateTitle}
          confirmLabel={texts.deactivate}
          onConfirm={() => deactivateLink.mutateAsync({ path: { id: link.id } })}
          onClose={() => setConfirming(false)}
        >
          {texts.deactivateText}
        </ConfirmDialog>
      )}
    </Page>
  );
};

const LinkProperties = ({ link }: { link: OwnPaymentLink }) => (
  <dl className={styles["facts"]}>
    <dt>{texts.status}</dt>
    <dd>
      <LinkBadge status={link.status} />
    </dd>
    <dt>{texts.received}</dt>
    <dd>
      {formatAmount(link.receivedAmount)} / {formatAmount(link.toAmount)} {link.token.symbol}{" "}
      {texts.onChain} {link.token.chain.name}
    </dd>
    {link.description !== null && (
      <>
        <dt>{texts.description}</dt>
        <dd>
          <bdi>{link.description}</bdi>
        </dd>
      </>
    )}
    <dt>{texts.maxUsage}</dt>
    <dd>{link.maxUsage ?? texts.unlimited}</dd>
    <dt>{texts.expires}</dt>
    <dd>{link.expirationDate === null ? texts.never : formatDateTime(link.expirationDate)}</dd>
    <dt>{texts.created}</dt>
    <dd>{formatDateTime(link.dateCreated)}</dd>
    <dt>{texts.destinationAddress}</dt>
    <dd>
      <code>{link.destinationAddress}</code>
    </dd>
    {link.addressGap !== null && (
      <>
        <dt>{texts.addressGap}</dt>
        <dd>
          {texts.addressGapCount(String(link.addressGap), String(addressGapMax))}
          <GapLimitHelp />
        </dd>
      </>
    )}
    <dt>{texts.id}</dt>
    <dd>
      <code>{link.id}</code>
    </dd>
    {link.transactionUrl !== null && (
      <>
        <dt>{texts.receipt}</dt>
        <dd>
          <a href={link.transactionUrl}>{link.transactionUrl}</a>
        </dd>
      </>
    )}
  </dl>
);

/** Explains how to raise a wallet's gap limit. */
const GapLimitHelp = () => (
  <details>
    <summary>{texts.gapLimitHelp.title}</summary>
    <p>{texts.gapLimitHelp.meaning}</p>
    <ul>
      {texts.gapLimitHelp.wallets.map(([wallet, steps]) => (
        <li key={wallet}>
          <strong>{wallet}</strong>: {steps}
        </li>
      ))}
    </ul>
    <p>{texts.gapLimitHelp.separateAccountHint}</p>
  </details>
);

/** Compares two plain decimals exactly. */
const isLessThan = (left: string, right: string): boolean =>
  toScaledInteger(left) < toScaledInteger(right);

const toScaledInteger = (amount: string): bigint => {
  const [whole = "0", fraction = ""] = amount.split(".");
  return BigInt(whole + fraction.padEnd(78, "0"));
};
