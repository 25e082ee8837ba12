import { triangleAlert } from "@payment-links/design/icons";
import { Link } from "react-router";
import type { Overview, OwnPaymentData } from "../../api/operations.ts";
import { texts as frameTexts } from "../../frame/texts.ts";
import { mode } from "../../mode.ts";
import { Button } from "../../ui/button.tsx";
import { formatAmount, formatCount, formatDateTime } from "../../ui/format.ts";
import { Icon } from "../../ui/icon.tsx";
import { Sentence } from "../../ui/sentence.tsx";
import { Table } from "../../ui/table.tsx";
import { texts as depositTexts } from "../deposits/texts.ts";
import type { AttentionItem } from "./attention.ts";
import styles from "./overview.module.css";
import type { SetupState } from "./setup.tsx";
import { formatBoundedCount } from "./format-bounded-count.ts";
import { texts } from "./texts.ts";

/** What needs attention, one line each. It is absent while nothing does. */
export const AttentionStrip = ({
  items,
  setup,
}: {
  items: readonly AttentionItem[];
  setup: SetupState;
}) => {
  const { steps, isHidden, toggleHidden } = setup;
  const isSetupOpen = isHidden && steps !== undefined && !steps.isShopDone;
  if (items.length === 0 && !isSetupOpen) return null;
  return (
    <section className={styles["attention"]} aria-label={texts.attention}>
      <ul>
        {items.map((item) => (
          <li key={`${item.kind} ${"id" in item ? item.id : ""}`}>
            <Icon node={triangleAlert} />
            <Item item={item} />
          </li>
        ))}
        {isSetupOpen && (
          <li>
            <Icon node={triangleAlert} />
            <span>{texts.remainingSteps(steps.shop.length - steps.doneCount)}</span>
            <Button variant="quiet" onPress={toggleHidden}>
              {texts.showSteps}
            </Button>
          </li>
        )}
      </ul>
    </section>
  );
};

const Item = ({ item }: { item: AttentionItem }) => {
  switch (item.kind) {
    case "unapplied":
      return <Unapplied unapplied={item.unapplied} />;
    case "deposits":
      return (
        <>
          <span>
            {depositTexts.pendingCount(`${formatCount(item.count)}${item.hasMore ? "+" : ""}`)}
          </span>
          <Link to="/deposits">{depositTexts.reviewDeposits}</Link>
        </>
      );
    case "endpoint":
      return (
        <>
          <span>
            <Sentence
              template={(name) => texts.failingEndpoint(name, item.failureCount)}
              name={item.name}
            />
          </span>
          <Link to={`/webhooks/${item.id}`}>{texts.viewEndpoint}</Link>
        </>
      );
    case "key":
      return (
        <>
          <span>
            <Sentence
              template={(name) => texts.expiringKey(name, formatDateTime(item.expiresAt))}
              name={item.name}
            />
          </span>
          <Link to="/keys">{texts.viewKeys}</Link>
        </>
      );
    case "passkey":
      return (
        <>
          <span>{frameTexts.passkeyMissing}</span>
          <Link to="/account/sign-in">{frameTexts.addPasskey}</Link>
        </>
      );
  }
};

const Unapplied = ({ unapplied }: Pick<Overview, "unapplied">) => (
  <details>
    <summary>{texts.unapplied(formatBoundedCount(unapplied))}</summary>
    <p>{mode === "test" ? texts.unappliedTestText : texts.unappliedText}</p>
    <Table
      rows={unapplied.payments}
      columns={[
        [texts.reason, (payment) => <Reason payment={payment} />],
        [texts.amount, ({ amount }) => formatAmount(amount), "numeric"],
        [texts.date, ({ dateCreated }) => formatDateTime(dateCreated), "date"],
      ]}
    />
  </details>
);

const Reason = ({ payment: { reason, paymentLinkId } }: { payment: OwnPaymentData }) => (
  <>
    {reason !== null && texts.reasons[reason]}{" "}
    <Link to={`/links/${paymentLinkId}`}>{texts.viewLink}</Link>
  </>
);
