import { useOperationQuery } from "../../api/query.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { formatCount } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import uiStyles from "../../ui/ui.module.css";
import { texts } from "../deposits/texts.ts";

/** Shows a notice while there are unmatched deposits that the user has to review. */
export const UnmatchedDeposits = ({ refetchIntervalMs }: { refetchIntervalMs: number }) => {
  const deposits = useOperationQuery("listDeposits", { query: {} }, { refetchIntervalMs });
  const { data = [], nextOffset = null } = deposits.data ?? {};
  if (data.length === 0) return null;
  const count = `${formatCount(data.length)}${nextOffset === null ? "" : "+"}`;
  return (
    <Card title={texts.title}>
      <div className={`${uiStyles["row"]} ${uiStyles["spread"]}`}>
        <span>{texts.pendingCount(count)}</span>
        <ButtonLink to="/deposits">{texts.reviewDeposits}</ButtonLink>
      </div>
    </Card>
  );
};
