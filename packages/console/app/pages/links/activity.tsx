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
import { Link } from "react-router";
import { buildOperationUrl } from "../../api/call.ts";
import type {
  LinkDeliveryData,
  OwnPaymentLink,
  PaymentData,
  StoryEntry,
} from "../../api/operations.ts";
import { DownloadButton } from "../../ui/download-button.tsx";
import { AsyncButton } from "../../ui/form.tsx";
import { formatAmount, formatDateTime } from "../../ui/format.ts";
import { Icon } from "../../ui/icon.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { Card } from "../../ui/page.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { formatTokenAmount } from "../../ui/token-amount.ts";
import { TruncatedCode } from "../../ui/truncated-code.tsx";
import uiStyles from "../../ui/ui.module.css";
import styles from "./links.module.css";
import { DeliveryStatus } from "../webhooks/delivery-status.tsx";
import { texts } from "./texts.ts";
import { useActivity } from "./use-activity.ts";

type Token = OwnPaymentLink["token"];

/** Everything that happened to a link, newest first: its payments, webhook deliveries and state. */
export const Activity = ({ link: { id, token } }: { link: OwnPaymentLink }) => {
  const { items, timeline, deliveries, hasMore, loadMore } = useActivity(id);
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
                key={`${item.entry.kind} ${item.entry.payment?.id ?? ""}`}
                entry={item.entry}
                token={token}
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
          href={buildOperationUrl("exportOwnPayments", { query: { link: id } })}
        />
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

const TimelineItem = ({ entry, token }: { entry: StoryEntry; token: Token }) => {
  const { at, by, kind, payment } = entry;
  const entryKind = getEntryKind(entry);
  const isReasonShown = kind === "payment_ended" && payment !== null && payment.reason !== null;
  return (
    <li>
      <span className={styles["mark"]} data-tone={tones[entryKind]}>
        <Icon node={icons[entryKind]} />
      </span>
      <span className={styles["event"]}>
        <strong>{texts.timelineEntryKinds[entryKind]}</strong>
        {by !== null && (
          <span className={uiStyles["quiet"]}>
            {by.kind === "api_key" ? texts.createdByApiKey : texts.createdInConsole}
          </span>
        )}
        {payment !== null && <Payment payment={payment} token={token} />}
        {isReasonShown && payment.reason !== null && (
          <span className={uiStyles["fault"]}>{texts.reasons[payment.reason]}</span>
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
const Payment = ({ payment, token }: { payment: PaymentData; token: Token }) => {
  const { amount, id, reason, sourceTransaction, transactionUrl } = payment;
  const hash = sourceTransaction ?? id;
  const shortHash = <TruncatedCode text={hash} />;
  return (
    <span>
      <span className={uiStyles["numeric"]}>
        {reason === "wrong_token" ? formatAmount(amount) : formatTokenAmount(amount, token)}
      </span>{" "}
      {transactionUrl === null ? (
        shortHash
      ) : (
        <a href={transactionUrl} target="_blank" rel="noopener">
          {shortHash} <Icon node={externalLink} size={12} />
          <span className={uiStyles["hidden"]}>{texts.inBlockExplorer}</span>
        </a>
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
