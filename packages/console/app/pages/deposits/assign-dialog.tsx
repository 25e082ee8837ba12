import type { DepositData } from "../../api/operations.ts";
import { useOperationMutation } from "../../api/query.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { formatAmount, formatDateTime } from "../../ui/format.ts";
import { texts as uiTexts } from "../../ui/texts.ts";
import styles from "../../ui/ui.module.css";
import { texts } from "./texts.ts";

/** Formats a deposit's amount with its token symbol. */
export const formatTokenAmount = ({
  amount,
  token,
}: Pick<DepositData, "amount" | "token">): string =>
  `${formatAmount(amount)} ${token?.symbol ?? ""}`.trim();

/** Assigns a deposit to a link and suggests likely links first. The assignment is permanent. */
export const AssignDialog = ({
  deposit,
  onClose,
}: {
  deposit: DepositData;
  onClose: () => void;
}) => {
  const assignDeposit = useOperationMutation(
    "assignDeposit",
    "listDeposits",
    "getOverview",
    "listOwnPaymentLinks",
  );
  const { likelyLinks } = deposit;
  const submit = async ({
    likely: selectedLinkId,
    typed: typedLinkId,
  }: Readonly<Record<string, string>>): Promise<void> => {
    const paymentLinkId = typedLinkId?.trim() ?? selectedLinkId ?? "";
    await assignDeposit.mutateAsync({ path: { id: deposit.id }, body: { paymentLinkId } });
    onClose();
  };
  return (
    <Dialog title={texts.assignTitle(formatTokenAmount(deposit))} onClose={onClose}>
      <p>{texts.assignText}</p>
      <Form
        submitLabel={texts.confirmAssign}
        onSubmit={submit}
        cancelButton={<Button onPress={onClose}>{uiTexts.cancel}</Button>}
      >
        {likelyLinks.length === 0 ? (
          <p className={styles["quiet"]}>{texts.noLikelyLinks}</p>
        ) : (
          <fieldset className={styles["stack"]}>
            <legend>{texts.likelyLinks}</legend>
            {likelyLinks.map((link) => (
              <LikelyLink key={link.id} link={link} symbol={deposit.token?.symbol ?? ""} />
            ))}
          </fieldset>
        )}
        <Field
          name="typed"
          label={likelyLinks.length === 0 ? texts.linkId : texts.otherLink}
          hint={texts.linkIdHint}
          isRequired={likelyLinks.length === 0}
          maxLength={64}
        />
      </Form>
    </Dialog>
  );
};

type LikelyLinkProps = { link: DepositData["likelyLinks"][number]; symbol: string };

const LikelyLink = ({ link, symbol }: LikelyLinkProps) => (
  <label className={styles["check"]}>
    <input type="radio" name="likely" value={link.id} />
    <span>
      <bdi>{link.description ?? link.id}</bdi> · {formatDateTime(link.dateCreated)}
      <br />
      <span className={`${styles["quiet"]} ${styles["small"]}`}>
        {texts.remaining(`${formatAmount(link.remainingAmount)} ${symbol}`)}
        {" · "}
        {link.reasons.map((reason) => texts.reasons[reason]).join(", ")}
      </span>
    </span>
  </label>
);
