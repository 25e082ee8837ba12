import type { DepositData } from "../../api/operations.ts";
import { useChange } from "../../api/query.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { showAmount, showTime } from "../../ui/format.ts";
import { texts as uiTexts } from "../../ui/texts.ts";
import styles from "../../ui/ui.module.css";
import { texts } from "./texts.ts";

/** A deposit's amount with its token. */
export const showMoney = ({ amount, token }: Pick<DepositData, "amount" | "token">): string =>
  `${showAmount(amount)} ${token?.symbol ?? ""}`.trim();

/** Asks for which link a deposit was, likely ones first, and assigns it: that cannot be taken back. */
export const AssignDialog = ({
  deposit,
  onClose,
}: {
  deposit: DepositData;
  onClose: () => void;
}) => {
  const assign = useChange("assignDeposit", "listDeposits", "getOverview", "listOwnPaymentLinks");
  const { likelyLinks } = deposit;
  const submit = async ({ likely, typed }: Readonly<Record<string, string>>): Promise<void> => {
    const paymentLinkId = typed?.trim() ?? likely ?? "";
    await assign.mutateAsync({ path: { id: deposit.id }, body: { paymentLinkId } });
    onClose();
  };
  return (
    <Dialog title={texts.assignTitle(showMoney(deposit))} onClose={onClose}>
      <p>{texts.assignText}</p>
      <Form
        submit={texts.confirm}
        onSubmit={submit}
        cancel={<Button onPress={onClose}>{uiTexts.cancel}</Button>}
      >
        {likelyLinks.length === 0 ? (
          <p className={styles["quiet"]}>{texts.noneLikely}</p>
        ) : (
          <fieldset className={styles["stack"]}>
            <legend>{texts.likely}</legend>
            {likelyLinks.map((link) => (
              <LikelyLink key={link.id} link={link} symbol={deposit.token?.symbol ?? ""} />
            ))}
          </fieldset>
        )}
        <Field
          name="typed"
          label={likelyLinks.length === 0 ? texts.linkId : texts.other}
          hint={texts.linkIdHint}
          isRequired={likelyLinks.length === 0}
          maxLength={64}
        />
      </Form>
    </Dialog>
  );
};

type LinkProps = { link: DepositData["likelyLinks"][number]; symbol: string };

const LikelyLink = ({ link, symbol }: LinkProps) => (
  <label className={styles["check"]}>
    <input type="radio" name="likely" value={link.id} />
    <span>
      <bdi>{link.description ?? link.id}</bdi> · {showTime(link.dateCreated)}
      <br />
      <span className={`${styles["quiet"]} ${styles["small"]}`}>
        {texts.remaining(`${showAmount(link.remainingAmount)} ${symbol}`)}
        {" · "}
        {link.reasons.map((reason) => texts.reasons[reason]).join(", ")}
      </span>
    </span>
  </label>
);
