import {
  arrowDownLeft,
  circleAlert,
  circleCheck,
  circleX,
  clock,
  externalLink,
  plus,
  undo2,
  webhook,
  type IconNode,
} from "@payment-links/design/icons";
import { useState } from "react";
import { Link } from "react-router";
import { buildOperationUrl } from "../../api/call.ts";
import type {
  LinkDeliveryData,
  OwnPaymentLink,
  PaymentData,
  RefundData,
  StoryEntry,
  TokenData,
} from "../../api/operations.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Copyable } from "../../ui/copyable.tsx";
import { DownloadButton } from "../../ui/download-button.tsx";
import { AsyncButton } from "../../ui/form.tsx";
import { formatAmount, formatDateTime } from "../../ui/format.ts";
import { Icon } from "../../ui/icon.tsx";
import { createLazyComponent } from "../../ui/lazy-component.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { Card } from "../../ui/page.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { formatTokenAmount } from "../../ui/token-amount.ts";
import { TruncatedCode } from "../../ui/truncated-code.tsx";
import uiStyles from "../../ui/ui.module.css";
import styles from "./links.module.css";
import { DeliveryStatus } from "../webhooks/delivery-status.tsx";
import { findRefundToken } from "./refund/find-refund-token.ts";
import { texts } from "./texts.ts";
import { useActivity } from "./use-activity.ts";

const RefundDialog = createLazyComponent(() => import("./refund/refund-dialog.tsx"), null);

/**
 * Everything that happened to a link, newest first: its payments, refunds, webhook deliveries and
 * state.
 */
export const Activity = ({ link }: { link: OwnPaymentLink }) => {
  const { id } = link;
  const [refunding, setRefunding] = useState<{ payment: PaymentData; token: TokenData }>();
  const { items, timeline, deliveries, hasMore, loadMore } = useActivity(link);
  const hasPayment = items.some(
    (item) => item.source === "timeline" && item.entry.payment !== null,
  );
  return (
    <Card title={texts.activity}>
      {timeline.isError && (
        <ErrorNotice error={timeline.error} onRetry={() => void timeline.refetch()} />
      )}
      {deliveries.isError && (
        <ErrorNotice error={deliveries.error} onRetry={() => void deliveries.refetch()} />
      )}
      {timeline.isPending || deliveries.isPending ? (
        <Skeleton height="10rem" />
      ) : (
        <ol className={styles["activity"]}>
          {items.map((item) =>
            item.source === "timeline" ? (
              <TimelineItem
                key={`${item.entry.kind} ${(item.entry.payment ?? item.entry.refund)?.id ?? ""}`}
                entry={item.entry}
                link={link}
                onRefund={(payment, token) => setRefunding({ payment, token })}
              />
            ) : (
              <DeliveryItem key={item.entry.id} delivery={item.entry} />
            ),
          )}
        </ol>
      )}
      {hasMore && !timeline.isPending && !deliveries.isPending && (
        <div>
          <AsyncButton onPress={async () => loadMore()}>{texts.showMore}</AsyncButton>
        </div>
      )}
      {hasPayment && (
        <DownloadButton
          label={texts.downloadPaymentsCsv}
          href={buildOperationUrl("exportOwnPayments", { query: { link: id, mode: link.mode } })}
        />
      )}
      {refunding !== undefined && (
        <RefundDialog link={link} {...refunding} onClose={() => setRefunding(undefined)} />
      )}
    </Card>
  );
};

type EntryKind = keyof typeof texts.timelineEntryKinds;

const icons: Readonly<Record<EntryKind, IconNode>> = {
  created: plus,
  expired: clock,
  payment_seen: arrowDownLeft,
  payment_ended: circleCheck,
  payment_failed: circleAlert,
  payment_unapplied: circleAlert,
  completed: circleCheck,
  deactivated: circleX,
  payment_orphaned: circleAlert,
  refund_recorded: undo2,
};

const tones: Partial<Record<EntryKind, "good" | "bad" | "warn">> = {
  payment_ended: "good",
  completed: "good",
  payment_failed: "bad",
  payment_unapplied: "warn",
  payment_orphaned: "bad",
};

type TimelineItemProps = {
  entry: StoryEntry;
  link: OwnPaymentLink;
  onRefund: (payment: PaymentData, token: TokenData) => void;
};

const TimelineItem = ({ entry, link, onRefund }: TimelineItemProps) => {
  const { at, by, kind, payment, refund } = entry;
  const entryKind = getEntryKind(entry);
  const isReasonShown = kind === "payment_ended" && payment !== null && payment.reason !== null;
  return (
    <li>
      <span className={styles["mark"]} data-tone={tones[entryKind]}>
        <Icon node={icons[entryKind]} />
      </span>
      <span className={styles["event"]}>
        <span>
          <strong>{texts.timelineEntryKinds[entryKind]}</strong>
          {payment?.simulated === true && kind !== "completed" && (
            <>
              {" "}
              <Badge tone="quiet">{texts.simulated}</Badge>
            </>
          )}
        </span>
        {by !== null && (
          <span className={uiStyles["quiet"]}>
            {by.kind === "api_key" ? texts.createdByApiKey : texts.createdInConsole}
          </span>
        )}
        {payment !== null && <Payment payment={payment} token={link.token} />}
        {refund !== null && <Refund refund={refund} token={link.token} />}
        {isReasonShown && payment.reason !== null && (
          <span className={uiStyles["fault"]}>{texts.reasons[payment.reason]}</span>
        )}
        {kind === "payment_ended" && payment !== null && (
          <Sender payment={payment} link={link} onRefund={onRefund} />
        )}
      </span>
      <span className={styles["time"]}>{at === null ? texts.timeUnknown : formatDateTime(at)}</span>
    </li>
  );
};

/** Returns the text key of an entry. The key of a finished payment depends on its result. */
const getEntryKind = ({ kind, payment }: StoryEntry): EntryKind => {
  if (kind !== "payment_ended" || payment === null) return kind;
  if (payment.status === "failed") return "payment_failed";
  return payment.applied ? kind : "payment_unapplied";
};

/** The amount of a payment, and its transaction in the block explorer if there is one. */
const Payment = ({ payment, token }: { payment: PaymentData; token: TokenData }) => {
  const { amount, id, reason, sourceTransaction, transactionUrl } = payment;
  const paidToken = reason === "wrong_token" ? payment.token : token;
  return (
    <Transfer
      amount={paidToken === undefined ? formatAmount(amount) : formatTokenAmount(amount, paidToken)}
      transactionId={sourceTransaction ?? id}
      url={transactionUrl}
    />
  );
};

/** A refund as its owner recorded it. */
const Refund = ({
  refund: { amount, chainId, tokenAddress, transactionId, transactionUrl },
  token,
}: {
  refund: RefundData;
  token: TokenData;
}) => {
  const isLinkToken = token.chain.id === chainId && token.address === tokenAddress;
  return (
    <>
      <Transfer
        amount={isLinkToken ? formatTokenAmount(amount, token) : formatAmount(amount)}
        transactionId={transactionId}
        url={transactionUrl}
      />
      <span className={uiStyles["quiet"]}>{texts.refundIsRecorded}</span>
    </>
  );
};

const Transfer = ({
  amount,
  transactionId,
  url,
}: {
  amount: string;
  transactionId: string;
  url: string | null;
}) => {
  const shortId = <TruncatedCode text={transactionId} />;
  return (
    <span>
      <span className={uiStyles["numeric"]}>{amount}</span>{" "}
      {url === null ? (
        shortId
      ) : (
        <a href={url} target="_blank" rel="noopener">
          {shortId} <Icon node={externalLink} size={12} />
          <span className={uiStyles["hidden"]}>{texts.inBlockExplorer}</span>
        </a>
      )}
    </span>
  );
};

/** Who sent a payment, and the action that refunds it. */
const Sender = ({
  payment,
  link,
  onRefund,
}: { payment: PaymentData } & Pick<TimelineItemProps, "link" | "onRefund">) => {
  const token = findRefundToken(link, payment);
  return (
    <span className={styles["sender"]}>
      {payment.sender !== null && (
        <span className={styles["senderAddress"]}>
          {texts.sender}
          <Copyable text={payment.sender} copyLabel={texts.copySender}>
            <TruncatedCode text={payment.sender} />
          </Copyable>
        </span>
      )}
      {token !== undefined && (
        <Button icon={undo2} onPress={() => onRefund(payment, token)}>
          {texts.refund}
        </Button>
      )}
    </span>
  );
};

const DeliveryItem = ({ delivery }: { delivery: LinkDeliveryData }) => (
  <li>
    <span className={styles["mark"]}>
      <Icon node={webhook} />
    </span>
    <span className={styles["event"]}>
      <span>
        <strong>{texts.webhook}</strong> <DeliveryStatus status={delivery.status} />
      </span>
      <span className={uiStyles["quiet"]}>
        <code>{delivery.eventType}</code> ·{" "}
        <Link to={`/webhooks/${delivery.endpointId}`}>
          <bdi>{delivery.endpointName}</bdi>
        </Link>
        {delivery.attempts > 1 && ` · ${texts.attempts(delivery.attempts)}`}
      </span>
    </span>
    <span className={styles["time"]}>{formatDateTime(delivery.dateCreated)}</span>
  </li>
);
