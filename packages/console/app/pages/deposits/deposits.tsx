import { useState } from "react";
import { Link, useSearchParams } from "react-router";
import { addressOf } from "../../api/call.ts";
import type { DepositData } from "../../api/operations.ts";
import { useCall, useChange } from "../../api/query.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { Download } from "../../ui/download.tsx";
import { Select } from "../../ui/field.tsx";
import { showTime, shorten } from "../../ui/format.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { Pager, useOffset } from "../../ui/pager.tsx";
import { Table } from "../../ui/table.tsx";
import styles from "../../ui/ui.module.css";
import { AssignDialog, showMoney } from "./assign-dialog.tsx";
import { texts } from "./texts.ts";

const decisions = ["unmatched", "assigned", "dismissed"] as const;
type Decision = (typeof decisions)[number];

const followMs = 15_000;

/** Money that came without naming a link, newest first: each is assigned to a link, or dismissed. */
const Deposits = () => {
  const [search, setSearch] = useSearchParams();
  const decision = decisions.find((one) => one === search.get("decision")) ?? "unmatched";
  const offset = useOffset();
  const deposits = useCall("listDeposits", { query: { decision, offset } }, { everyMs: followMs });
  const pick = (value: string): void => setSearch(value === "unmatched" ? {} : { decision: value });
  return (
    <Page title={texts.title}>
      <Card>
        <p>{texts.intro}</p>
        <Select
          label={texts.which}
          value={decision}
          onPick={pick}
          options={decisions.map((value) => ({ value, text: texts.decisions[value] }))}
        />
        <Loaded query={deposits}>
          {(page) => (
            <>
              <DepositTable deposits={page.data} decision={decision} />
              <Pager page={page} />
            </>
          )}
        </Loaded>
        <Download label={texts.csv} address={addressOf("exportDeposits")} />
      </Card>
    </Page>
  );
};
export default Deposits;

const tones: Record<DepositData["status"], Tone> = {
  seen: "warn",
  settled: "good",
  orphaned: "bad",
};

type TableProps = { deposits: readonly DepositData[]; decision: Decision };

const DepositTable = ({ deposits, decision }: TableProps) => (
  <Table
    rows={deposits}
    none={decision === "unmatched" ? texts.none : texts.noneDecided}
    columns={[
      [texts.amount, (deposit) => <Money deposit={deposit} />],
      [texts.state, ({ status }) => <Badge tone={tones[status]}>{texts.states[status]}</Badge>],
      [texts.when, ({ dateOnChain }) => showTime(dateOnChain)],
      [texts.sender, ({ sender }) => (sender === null ? "" : <Short text={sender} />)],
      [texts.inTransaction, (deposit) => <Transaction deposit={deposit} />],
      [texts.decide, (deposit) => <Decide deposit={deposit} />],
    ]}
  />
);

/** A token that is mistaken for another one is called by its difference. */
const Money = ({ deposit }: { deposit: DepositData }) => (
  <>
    {showMoney(deposit)}
    {deposit.lookalikeOf !== null && (
      <>
        <br />
        <span className={styles["small"]}>{texts.wrongToken(deposit.lookalikeOf)}</span>
      </>
    )}
  </>
);

const Short = ({ text }: { text: string }) => <code title={text}>{shorten(text)}</code>;

const Transaction = ({
  deposit: { sourceTransaction, transactionUrl },
}: {
  deposit: DepositData;
}) =>
  transactionUrl === null ? (
    <Short text={sourceTransaction} />
  ) : (
    <a href={transactionUrl} target="_blank" rel="noreferrer">
      <Short text={sourceTransaction} />
    </a>
  );

/** What can be done with a deposit as it stands. */
const Decide = ({ deposit }: { deposit: DepositData }) => {
  const [open, setOpen] = useState<"assign" | "dismiss">();
  const dismiss = useChange("dismissDeposit", "listDeposits");
  if (deposit.paymentLinkId !== null) {
    return <Link to={`/links/${deposit.paymentLinkId}`}>{texts.toLink}</Link>;
  }
  const close = (): void => setOpen(undefined);
  return (
    <div className={styles["row"]}>
      {deposit.countedAs !== undefined && (
        <span>
          {texts.counted}{" "}
          <Link to={`/links/${deposit.countedAs.paymentLinkId}`}>{texts.toLink}</Link>
        </span>
      )}
      {deposit.status === "settled" &&
        deposit.lookalikeOf === null &&
        deposit.countedAs === undefined && (
          <Button onPress={() => setOpen("assign")}>{texts.assign}</Button>
        )}
      {deposit.decision === "unmatched" && (
        <Button onPress={() => setOpen("dismiss")}>{texts.dismiss}</Button>
      )}
      {open === "assign" && <AssignDialog deposit={deposit} onClose={close} />}
      {open === "dismiss" && (
        <ConfirmDialog
          title={texts.dismissTitle}
          confirm={texts.dismiss}
          onConfirm={() => dismiss.mutateAsync({ path: { id: deposit.id } })}
          onClose={close}
        >
          <p>{texts.dismissText}</p>
        </ConfirmDialog>
      )}
    </div>
  );
};
