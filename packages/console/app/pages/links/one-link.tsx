import { useState } from "react";
import { useParams } from "react-router";
import type { OwnPaymentLink } from "../../api/operations.ts";
import { useCall, useChange } from "../../api/query.ts";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { showAmount, showTime } from "../../ui/format.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Card, Page } from "../../ui/page.tsx";
import styles from "../../ui/ui.module.css";
import { LinkBadge } from "./link-badge.tsx";
import { LinkDeliveries } from "./link-deliveries.tsx";
import { Payments } from "./payments.tsx";
import { Share } from "./share.tsx";
import { Story } from "./story.tsx";
import { texts } from "./texts.ts";

const followMs = 5_000;

/** As far as most wallets on Bitcoin look for payments, in addresses that nobody paid yet. */
const addressGapMax = 20;

/** One link: how it stands, its payments, and what can be done with it. */
const OneLink = () => {
  const { id = "" } = useParams();
  const link = useCall("getOwnPaymentLink", { path: { id } }, { everyMs: followMs });
  return <Loaded query={link}>{(data) => <Link link={data} />}</Loaded>;
};
export default OneLink;

const Link = ({ link }: { link: OwnPaymentLink }) => {
  const [isAsking, setAsking] = useState(false);
  const deactivate = useChange("deactivatePaymentLink", "getOwnPaymentLink", "listOwnPaymentLinks");
  const { toAmount, description, maxUsage, status, token, addressGap, unsendableRemainder } = link;
  const isUnderpaid = status === "completed" && isLess(link.receivedAmount, toAmount);
  const actions = (
    <>
      <ButtonLink to="/links/new" state={{ toAmount, description, maxUsage }}>
        {texts.duplicate}
      </ButtonLink>
      {status === "active" && (
        <Button look="danger" onPress={() => setAsking(true)}>
          {texts.deactivate}
        </Button>
      )}
    </>
  );
  return (
    <Page title={`${showAmount(toAmount)} ${token.symbol}`} actions={actions}>
      {(addressGap ?? 0) > addressGapMax && (
        <Notice tone="warn">{texts.addressGapWarning(String(addressGap))}</Notice>
      )}
      {status === "active" && unsendableRemainder !== undefined && (
        <Notice tone="warn">
          <p>
            {texts.unsendable(
              `${showAmount(unsendableRemainder.amount)} ${token.symbol}`,
              `${showAmount(unsendableRemainder.smallestPayment)} ${token.symbol}`,
            )}
          </p>
          <div>
            <Button onPress={() => setAsking(true)}>{texts.deactivateLink}</Button>
          </div>
        </Notice>
      )}
      {isUnderpaid && <Notice tone="warn">{texts.underpaid}</Notice>}
      <Card>
        <Facts link={link} />
      </Card>
      {status === "active" && <Share url={link.url} />}
      <Story linkId={link.id} />
      <Payments link={link} />
      <LinkDeliveries linkId={link.id} />
      {isAsking && (
        <ConfirmDialog
          title={texts.deactivateTitle}
          confirm={texts.deactivate}
          onConfirm={() => deactivate.mutateAsync({ path: { id: link.id } })}
          onClose={() => setAsking(false)}
        >
          {texts.deactivateText}
        </ConfirmDialog>
      )}
    </Page>
  );
};

const Facts = ({ link }: { link: OwnPaymentLink }) => (
  <dl className={styles["facts"]}>
    <dt>{texts.status}</dt>
    <dd>
      <LinkBadge status={link.status} />
    </dd>
    <dt>{texts.received}</dt>
    <dd>
      {showAmount(link.receivedAmount)} / {showAmount(link.toAmount)} {link.token.symbol} {texts.on}{" "}
      {link.token.chain.name}
    </dd>
    {link.description !== null && (
      <>
        <dt>{texts.description}</dt>
        <dd>
          <bdi>{link.description}</bdi>
        </dd>
      </>
    )}
    <dt>{texts.uses}</dt>
    <dd>{link.maxUsage ?? texts.unlimited}</dd>
    <dt>{texts.expires}</dt>
    <dd>{link.expirationDate === null ? texts.never : showTime(link.expirationDate)}</dd>
    <dt>{texts.created}</dt>
    <dd>{showTime(link.dateCreated)}</dd>
    <dt>{texts.destination}</dt>
    <dd>
      <code>{link.destinationAddress}</code>
    </dd>
    {link.addressGap !== null && (
      <>
        <dt>{texts.addressGap}</dt>
        <dd>
          {texts.addressGapCount(String(link.addressGap), String(addressGapMax))}
          <GapHelp />
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

/** How owners let their wallet look further ahead for payments. */
const GapHelp = () => (
  <details>
    <summary>{texts.gapHelp.title}</summary>
    <p>{texts.gapHelp.meaning}</p>
    <ul>
      {texts.gapHelp.wallets.map(([wallet, steps]) => (
        <li key={wallet}>
          <strong>{wallet}</strong>: {steps}
        </li>
      ))}
    </ul>
    <p>{texts.gapHelp.ownAccount}</p>
  </details>
);

/** Whether one plain decimal is less than another, digit by digit. */
const isLess = (one: string, other: string): boolean => unitsOf(one) < unitsOf(other);

const unitsOf = (amount: string): bigint => {
  const [whole = "0", fraction = ""] = amount.split(".");
  return BigInt(whole + fraction.padEnd(78, "0"));
};
