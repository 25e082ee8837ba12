import { useState } from "react";
import type { StoryEntry } from "../../api/operations.ts";
import { useOperationQuery } from "../../api/query.ts";
import { Button } from "../../ui/button.tsx";
import { formatAmount, formatDateTime, truncateMiddle } from "../../ui/format.ts";
import { QueryView } from "../../ui/query-view.tsx";
import { Card } from "../../ui/page.tsx";
import styles from "../../ui/ui.module.css";
import { texts } from "./texts.ts";

const refetchIntervalMs = 5_000;

/**
 * A link's timeline in chronological order, from the creation of the link to the result of its last
 * payment.
 */
export const Timeline = ({ linkId }: { linkId: string }) => {
  // One cursor per loaded page. Each page starts after the previous one.
  const [cursors, setCursors] = useState<readonly (string | undefined)[]>([undefined]);
  return (
    <Card title={texts.timeline}>
      <ol className={styles["story"]}>
        {cursors.map((after, index) => (
          <TimelinePage
            key={after ?? ""}
            linkId={linkId}
            after={after}
            isLast={index === cursors.length - 1}
            onMore={(nextCursor) => setCursors([...cursors, nextCursor])}
          />
        ))}
      </ol>
    </Card>
  );
};

type PageProps = {
  linkId: string;
  after: string | undefined;
  isLast: boolean;
  onMore: (after: string) => void;
};

const TimelinePage = ({ linkId, after, isLast, onMore }: PageProps) => {
  const path = { id: linkId };
  const queryOptions = isLast ? { refetchIntervalMs } : {};
  const timeline = useOperationQuery(
    "getPaymentLinkStory",
    { path, query: { after } },
    queryOptions,
  );
  return (
    <QueryView query={timeline}>
      {({ data, nextAfter }) => (
        <>
          {data.map((entry) => (
            <TimelineItem key={`${entry.kind} ${entry.payment?.id ?? ""}`} entry={entry} />
          ))}
          {isLast && nextAfter !== null && (
            <li>
              <Button onPress={() => onMore(nextAfter)}>{texts.showMore}</Button>
            </li>
          )}
        </>
      )}
    </QueryView>
  );
};

const TimelineItem = ({ entry: { kind, at, by, payment } }: { entry: StoryEntry }) => (
  <li>
    <strong>{texts.timelineEntryKinds[toTextKey(kind, payment)]}</strong>
    <span className={styles["quiet"]}>
      {at === null ? texts.timeUnknown : formatDateTime(at)}
      {by !== null &&
        ` · ${by.kind === "api_key" ? texts.createdByApiKey : texts.createdInConsole}`}
    </span>
    {payment !== null && (
      <span>
        {formatAmount(payment.amount)}{" "}
        <code title={payment.sourceTransaction ?? payment.id}>
          {truncateMiddle(payment.sourceTransaction ?? payment.id)}
        </code>
      </span>
    )}
    {kind === "payment_ended" && payment !== null && payment.reason !== null && (
      <span className={styles["fault"]}>{texts.reasons[payment.reason]}</span>
    )}
  </li>
);

/** Returns the text key of an entry. The key of a finished payment depends on its result. */
const toTextKey = (kind: StoryEntry["kind"], payment: StoryEntry["payment"]) => {
  if (kind !== "payment_ended" || payment === null) return kind;
  if (payment.status === "failed") return "payment_failed";
  return payment.applied ? kind : "payment_unapplied";
};
