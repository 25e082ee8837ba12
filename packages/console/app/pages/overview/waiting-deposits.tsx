import { useCall } from "../../api/query.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { showCount } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import uiStyles from "../../ui/ui.module.css";
import { texts } from "../deposits/texts.ts";

/** Tells of money that names no link, where there is any to decide on. */
export const WaitingDeposits = ({ everyMs }: { everyMs: number }) => {
  const deposits = useCall("listDeposits", { query: {} }, { everyMs });
  const { data = [], nextOffset = null } = deposits.data ?? {};
  if (data.length === 0) return null;
  const count = `${showCount(data.length)}${nextOffset === null ? "" : "+"}`;
  return (
    <Card title={texts.title}>
      <div className={`${uiStyles["row"]} ${uiStyles["spread"]}`}>
        <span>{texts.overview(count)}</span>
        <ButtonLink to="/deposits">{texts.go}</ButtonLink>
      </div>
    </Card>
  );
};
