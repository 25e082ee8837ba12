import { useState } from "react";
import type { StoryEntry } from "../../api/operations.ts";
import { useCall } from "../../api/query.ts";
import { Button } from "../../ui/button.tsx";
import { showAmount, showTime, shorten } from "../../ui/format.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { Card } from "../../ui/page.tsx";
import styles from "../../ui/ui.module.css";
import { texts } from "./texts.ts";

const followMs = 5_000;

/** What happened with a link, in order: from its creation to what its last payment became. */
export const Story = ({ linkId }: { linkId: string }) => {
  // Each page begins behind the one before.
  const [afters, setAfters] = useState<readonly (string | undefined)[]>([undefined]);
  return (
    <Card title={texts.story}>
      <ol className={styles["story"]}>
        {afters.map((after, index) => (
          <StoryPage
            key={after ?? ""}
            linkId={linkId}
            after={after}
            isLast={index === afters.length - 1}
            onMore={(next) => setAfters([...afters, next])}
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

const StoryPage = ({ linkId, after, isLast, onMore }: PageProps) => {
  const path = { id: linkId };
  const everyMs = isLast ? { everyMs: followMs } : {};
  const story = useCall("getPaymentLinkStory", { path, query: { after } }, everyMs);
  return (
    <Loaded query={story}>
      {({ data, nextAfter }) => (
        <>
          {data.map((entry) => (
            <Entry key={`${entry.kind} ${entry.payment?.id ?? ""}`} entry={entry} />
          ))}
          {isLast && nextAfter !== null && (
            <li>
              <Button onPress={() => onMore(nextAfter)}>{texts.more}</Button>
            </li>
          )}
        </>
      )}
    </Loaded>
  );
};

const Entry = ({ entry: { kind, at, by, payment } }: { entry: StoryEntry }) => (
  <li>
    <strong>{texts.storyKinds[wordOf(kind, payment)]}</strong>
    <span className={styles["quiet"]}>
      {at === null ? texts.notWritten : showTime(at)}
      {by !== null && ` · ${by.kind === "api_key" ? texts.byKey : texts.byPerson}`}
    </span>
    {payment !== null && (
      <span>
        {showAmount(payment.amount)}{" "}
        <code title={payment.sourceTransaction ?? payment.id}>
          {shorten(payment.sourceTransaction ?? payment.id)}
        </code>
      </span>
    )}
    {kind === "payment_ended" && payment !== null && payment.reason !== null && (
      <span className={styles["fault"]}>{texts.reasons[payment.reason]}</span>
    )}
  </li>
);

/** How a payment ended is the payment's own. */
const wordOf = (kind: StoryEntry["kind"], payment: StoryEntry["payment"]) => {
  if (kind !== "payment_ended" || payment === null) return kind;
  if (payment.status === "failed") return "payment_failed";
  return payment.applied ? kind : "payment_unapplied";
};
