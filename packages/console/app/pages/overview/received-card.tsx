import { plus, receipt } from "@payment-links/design/icons";
import { useState } from "react";
import { useSearchParams } from "react-router";
import type { Overview } from "../../api/operations.ts";
import { mode } from "../../mode.ts";
import { Badge } from "../../ui/badge.tsx";
import { ButtonLink } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Card } from "../../ui/page.tsx";
import { Segmented } from "../../ui/segmented.tsx";
import { formatTokenAmount } from "../../ui/token-amount.ts";
import uiStyles from "../../ui/ui.module.css";
import { Chart, ReceivedTable } from "./chart.tsx";
import styles from "./overview.module.css";
import { type ReceivedToken, dayCounts, summarizeReceived } from "./received.ts";
import { texts } from "./texts.ts";

/** What the account received in a range of days, for each token. */
export const ReceivedCard = ({ data, now }: { data: Overview; now: number }) => {
  const { dayCount, setDayCount } = useDayCount();
  const [tokenId, setTokenId] = useState("");
  const tokens = summarizeReceived(data, { now: new Date(now), dayCount });
  const selectedToken = tokens.find((token) => token.tokenId === tokenId) ?? tokens[0];
  const rangePicker = (
    <Segmented
      label={texts.range}
      options={dayCounts.map((count) => ({ value: String(count), text: texts.days(count) }))}
      value={String(dayCount)}
      onValueChange={setDayCount}
    />
  );
  return (
    <Card title={texts.received(dayCount)} actions={rangePicker}>
      {selectedToken === undefined ? (
        <NothingReceived hasEarlier={data.received.length > 0} />
      ) : (
        <>
          {tokens.length > 1 && (
            <Segmented
              label={texts.token}
              options={tokens.map(({ tokenId, token }) => ({
                value: tokenId,
                text: `${token.symbol} · ${token.chain.name}`,
              }))}
              value={selectedToken.tokenId}
              onValueChange={setTokenId}
            />
          )}
          <Total received={selectedToken} dayCount={dayCount} />
          <Chart received={selectedToken} />
          <ReceivedTable received={selectedToken} />
        </>
      )}
    </Card>
  );
};

/** The range changes immediately. The URL holds it, too, so that a reload keeps it. */
const useDayCount = () => {
  const [searchParams, setSearchParams] = useSearchParams();
  const [days, setDays] = useState(searchParams.get("days"));
  const dayCount = dayCounts.find((count) => String(count) === days) ?? 30;
  const setDayCount = (newDays: string): void => {
    setDays(newDays);
    setSearchParams({ days: newDays }, { replace: true });
  };
  return { dayCount, setDayCount };
};

const percentFormat = new Intl.NumberFormat(undefined, {
  style: "percent",
  signDisplay: "exceptZero",
});

const Total = ({
  received: { token, total, changePercent },
  dayCount,
}: {
  received: ReceivedToken;
  dayCount: number;
}) => (
  <div className={styles["total"]}>
    <strong>{formatTokenAmount(total, token)}</strong>
    <span className={uiStyles["quiet"]}>{texts.onNetwork(token.chain.name)}</span>
    {changePercent !== undefined && (
      <span className={uiStyles["quiet"]}>
        <Badge tone={getTone(changePercent)}>
          {percentFormat.format(Number(changePercent) / 100)}
        </Badge>{" "}
        {texts.comparedWith(dayCount)}
      </span>
    )}
  </div>
);

const getTone = (changePercent: bigint) => {
  if (changePercent === 0n) return "quiet";
  return changePercent > 0n ? "good" : "bad";
};

const NothingReceived = ({ hasEarlier }: { hasEarlier: boolean }) =>
  hasEarlier ? (
    <p className={uiStyles["quiet"]}>{texts.nothingReceived}</p>
  ) : (
    <EmptyState
      icon={receipt}
      title={texts.noPayments}
      action={
        <ButtonLink to="/links/new" icon={plus}>
          {texts.newLink}
        </ButtonLink>
      }
    >
      {mode === "test" ? texts.noTestPaymentsHint : texts.noPaymentsHint}
    </EmptyState>
  );
