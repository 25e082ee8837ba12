import { inbox } from "@payment-links/design/icons";
import { useState } from "react";
import { Link, useSearchParams } from "react-router";
import { buildOperationUrl } from "../../api/call.ts";
import type { DepositData } from "../../api/operations.ts";
import { useOperationQuery, useOperationMutation } from "../../api/query.ts";
import { mode } from "../../mode.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { Copyable } from "../../ui/copyable.tsx";
import { DownloadButton } from "../../ui/download-button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { formatDateTime, truncateMiddle } from "../../ui/format.ts";
import { QueryView } from "../../ui/query-view.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { Pager, useOffset } from "../../ui/pager.tsx";
import { SkeletonTable } from "../../ui/skeleton.tsx";
import { Table } from "../../ui/table.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import styles from "../../ui/ui.module.css";
import { AssignDialog, formatTokenAmount } from "./assign-dialog.tsx";
import { TruncatedCode } from "../../ui/truncated-code.tsx";
import { texts } from "./texts.ts";

const decisions = ["unmatched", "assigned", "dismissed"] as const;
type Decision = (typeof decisions)[number];

const refetchIntervalMs = 15_000;

/**
 * Deposits that could not be matched to a link, newest first. The user can assign each one to a
 * link or dismiss it.
 */
const Deposits = () => {
  const [searchParams] = useSearchParams();
  const decision =
    decisions.find((candidate) => candidate === searchParams.get("decision")) ?? "unmatched";
  const offset = useOffset();
  const deposits = useOperationQuery(
    "listDeposits",
    { query: { decision, mode, offset } },
    { refetchIntervalMs },
  );
  return (
    <Page title={texts.title}>
      <p className={styles["quiet"]}>{texts.intro}</p>
      <Tabs
        label={texts.filterLabel}
        tabs={decisions.map((value) => ({
          to: value === "unmatched" ? "/deposits" : `/deposits?decision=${value}`,
          label: texts.decisions[value],
          isCurrent: value === decision,
        }))}
      />
      <Card>
        <QueryView query={deposits} placeholder={<SkeletonTable rows={3} />}>
          {(page) => (
            <>
              <DepositTable deposits={page.data} decision={decision} />
              <Pager page={page} />
            </>
          )}
        </QueryView>
      </Card>
      {/* It appears with the data, so that the data does not move it. */}
      {deposits.data !== undefined && (
        <DownloadButton
          label={texts.downloadCsv}
          href={buildOperationUrl("exportDeposits", { query: { mode } })}
        />
      )}
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

const DepositTable = ({ deposits, decision }: TableProps) =>
  deposits.length === 0 ? (
    <EmptyState icon={inbox} title={texts.emptyTitles[decision]}>
      {texts.emptyTexts[decision]}
    </EmptyState>
  ) : (
    <Table
      rows={deposits}
      columns={[
        [texts.amount, (deposit) => <DepositAmount deposit={deposit} />],
        [texts.state, ({ status }) => <Badge tone={tones[status]}>{texts.states[status]}</Badge>],
        [texts.timeColumn, ({ dateOnChain }) => formatDateTime(dateOnChain)],
        [texts.sender, ({ sender }) => sender !== null && <Sender address={sender} />],
        [texts.transactionLabel, (deposit) => <Transaction deposit={deposit} />],
        [texts.actions, (deposit) => <DepositActions deposit={deposit} />],
      ]}
    />
  );

/** Shows which token a lookalike token imitates. */
const DepositAmount = ({ deposit }: { deposit: DepositData }) => (
  <>
    <strong className={styles["numeric"]}>{formatTokenAmount(deposit)}</strong>
    {deposit.lookalikeOf !== null && (
      <>
        <br />
        <span className={styles["small"]}>{texts.wrongToken(deposit.lookalikeOf)}</span>
      </>
    )}
  </>
);

const Sender = ({ address }: { address: string }) => (
  <Copyable text={address} copyLabel={texts.copySender(truncateMiddle(address))}>
    <TruncatedCode text={address} />
  </Copyable>
);

const Transaction = ({
  deposit: { sourceTransaction, transactionUrl },
}: {
  deposit: DepositData;
}) =>
  transactionUrl === null ? (
    <TruncatedCode text={sourceTransaction} />
  ) : (
    <a href={transactionUrl} target="_blank" rel="noreferrer">
      <TruncatedCode text={sourceTransaction} />
    </a>
  );

/** The actions that are available in the deposit's state. */
const DepositActions = ({ deposit }: { deposit: DepositData }) => {
  const [openDialog, setOpenDialog] = useState<"assign" | "dismiss">();
  const dismissDeposit = useOperationMutation("dismissDeposit", "listDeposits");
  if (deposit.paymentLinkId !== null) {
    return <Link to={`/links/${deposit.paymentLinkId}`}>{texts.viewLink}</Link>;
  }
  const close = (): void => setOpenDialog(undefined);
  return (
    <div className={styles["row"]}>
      {deposit.countedAs !== undefined && (
        <span>
          {texts.alreadyApplied}{" "}
          <Link to={`/links/${deposit.countedAs.paymentLinkId}`}>{texts.viewLink}</Link>
        </span>
      )}
      {deposit.status === "settled" &&
        deposit.lookalikeOf === null &&
        deposit.countedAs === undefined && (
          <Button onPress={() => setOpenDialog("assign")}>{texts.assign}</Button>
        )}
      {deposit.decision === "unmatched" && (
        <Button variant="quiet" onPress={() => setOpenDialog("dismiss")}>
          {texts.dismiss}
        </Button>
      )}
      {openDialog === "assign" && <AssignDialog deposit={deposit} onClose={close} />}
      {openDialog === "dismiss" && (
        <ConfirmDialog
          title={texts.dismissTitle}
          confirmLabel={texts.dismiss}
          confirmVariant="primary"
          onConfirm={() => dismissDeposit.mutateAsync({ path: { id: deposit.id } })}
          onClose={close}
        >
          <p>{texts.dismissText}</p>
        </ConfirmDialog>
      )}
    </div>
  );
};
