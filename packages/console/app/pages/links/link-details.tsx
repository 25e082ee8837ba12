import { circleX, copy } from "@payment-links/design/icons";
import { useState } from "react";
import { useLocation, useParams } from "react-router";
import type { OwnPaymentLink } from "../../api/operations.ts";
import { useOperationMutation, useOperationQuery } from "../../api/query.ts";
import { useModeOf } from "../../frame/use-mode-of.ts";
import { ActionMenu } from "../../ui/action-menu.tsx";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { formatTokenAmount, formatTokenNumber } from "../../ui/token-amount.ts";
import uiStyles from "../../ui/ui.module.css";
import { Activity } from "./activity.tsx";
import { LinkBadge } from "./link-badge.tsx";
import { LinkFacts, addressGapMax } from "./link-facts.tsx";
import styles from "./links.module.css";
import { getLinkProgress } from "./progress.ts";
import { ShareCard } from "./share.tsx";
import { texts } from "./texts.ts";

const refetchIntervalMs = 5_000;

/** One link with its progress, activity and actions. */
const LinkDetails = () => {
  const { id = "" } = useParams();
  const link = useOperationQuery("getOwnPaymentLink", { path: { id } }, { refetchIntervalMs });
  return (
    <QueryView query={link} pageTitle={texts.linkTitle}>
      {(data) => <LinkInItsMode link={data} />}
    </QueryView>
  );
};
export default LinkDetails;

const LinkInItsMode = ({ link }: { link: OwnPaymentLink }) =>
  useModeOf(link) ? <LinkView link={link} /> : <Page title={texts.linkTitle}>{null}</Page>;

const LinkView = ({ link }: { link: OwnPaymentLink }) => {
  const [isConfirming, setConfirming] = useState(false);
  const { isNew = false } = (useLocation().state ?? {}) as { isNew?: boolean };
  const deactivateLink = useOperationMutation(
    "deactivatePaymentLink",
    "getOwnPaymentLink",
    "listOwnPaymentLinks",
  );
  const { toAmount, description, maxUsage, status, token } = link;
  const amount = formatTokenAmount(toAmount, token);
  const openDialog = () => setConfirming(true);
  const actions = (
    <>
      <ButtonLink to="/links/new" icon={copy} state={{ toAmount, description, maxUsage }}>
        {texts.duplicate}
      </ButtonLink>
      {status === "active" && (
        <ActionMenu
          label={texts.moreActions}
          items={[{ label: texts.deactivate, icon: circleX, tone: "danger", onAction: openDialog }]}
        />
      )}
    </>
  );
  return (
    <Page
      title={amount}
      back={{ to: "/links", label: texts.title }}
      status={<LinkBadge link={link} />}
      actions={actions}
    >
      <Notices link={link} isNew={isNew} onDeactivate={openDialog} />
      <div className={styles["details"]}>
        <div className={uiStyles["stack"]}>
          {status === "active" && <ShareCard url={link.url} amount={amount} />}
          <Progress link={link} />
          <Activity link={link} />
        </div>
        <LinkFacts link={link} />
      </div>
      {isConfirming && (
        <ConfirmDialog
          title={texts.deactivateTitle}
          confirmLabel={texts.deactivate}
          onConfirm={() => deactivateLink.mutateAsync({ path: { id: link.id } })}
          onClose={() => setConfirming(false)}
        >
          {texts.deactivateText}
        </ConfirmDialog>
      )}
    </Page>
  );
};

const Notices = ({
  link: { addressGap, status, token, unsendableRemainder },
  isNew,
  onDeactivate,
}: {
  link: OwnPaymentLink;
  isNew: boolean;
  onDeactivate: () => void;
}) => (
  <>
    {isNew && status === "active" && <Notice tone="good">{texts.linkCreated}</Notice>}
    {(addressGap ?? 0) > addressGapMax && (
      <Notice tone="warn">{texts.addressGapWarning(String(addressGap))}</Notice>
    )}
    {status === "active" && unsendableRemainder !== undefined && (
      <Notice tone="warn">
        <p>
          {texts.unsendableRemainder(
            formatTokenAmount(unsendableRemainder.amount, token),
            formatTokenAmount(unsendableRemainder.smallestPayment, token),
          )}
        </p>
        <div>
          <Button onPress={onDeactivate}>{texts.deactivateLink}</Button>
        </div>
      </Notice>
    )}
  </>
);

/** How much of the amount has been received. */
const Progress = ({ link }: { link: OwnPaymentLink }) => {
  const { percent, missingAmount, excessAmount } = getLinkProgress(link);
  const { receivedAmount, status, toAmount, token } = link;
  return (
    <Card title={texts.received}>
      <div className={styles["progress"]}>
        <p>
          <strong>
            {texts.receivedOf(
              formatTokenNumber(receivedAmount, token),
              formatTokenAmount(toAmount, token),
            )}
          </strong>
          {excessAmount !== undefined &&
            `, ${texts.excess(formatTokenNumber(excessAmount, token))}`}
        </p>
        <progress
          className={uiStyles["progressBar"]}
          aria-label={texts.received}
          max={100}
          value={percent}
        />
      </div>
      {status === "completed" && missingAmount !== undefined && (
        <Notice tone="warn">{texts.underpaid(formatTokenAmount(missingAmount, token))}</Notice>
      )}
    </Card>
  );
};
