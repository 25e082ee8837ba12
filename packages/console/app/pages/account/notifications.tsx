import { useState } from "react";
import { useLocation, useNavigate } from "react-router";
import type { NotificationSettings } from "../../api/operations.ts";
import { useOperationMutation, useOperationQuery } from "../../api/query.ts";
import { mode } from "../../mode.ts";
import { Badge } from "../../ui/badge.tsx";
import { Checkbox, Field } from "../../ui/field.tsx";
import { AsyncButton, Form } from "../../ui/form.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Card } from "../../ui/page.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import styles from "../../ui/ui.module.css";
import { texts } from "./notification-texts.ts";

const kinds = Object.keys(texts.kinds) as (keyof typeof texts.kinds)[];

/** The address for email notifications and the kinds that are on. */
const Notifications = () => {
  const settings = useOperationQuery("getNotifications", {});
  return (
    <QueryView query={settings}>
      {(data) =>
        data.isAvailable ? (
          <>
            {mode === "test" && <Notice>{texts.noTestEmails}</Notice>}
            <Address settings={data} />
            <Kinds settings={data} />
          </>
        ) : (
          <Card title={texts.title}>
            <p className={styles["quiet"]}>{texts.unavailable}</p>
          </Card>
        )
      }
    </QueryView>
  );
};
export default Notifications;

const Address = ({ settings: { address, pendingAddress } }: { settings: NotificationSettings }) => {
  const setAddress = useOperationMutation("setNotificationAddress", "getNotifications");
  const removeAddress = useOperationMutation("removeNotificationAddress", "getNotifications");
  const hasAddress = address !== null || pendingAddress !== null;
  return (
    <Card title={texts.address}>
      <Confirmation pendingAddress={pendingAddress} />
      {!hasAddress && <p className={styles["quiet"]}>{texts.empty}</p>}
      {address !== null && (
        <div className={styles["row"]}>
          <bdi>{address}</bdi>
          <Badge tone="good">{texts.confirmed}</Badge>
        </div>
      )}
      {pendingAddress !== null && (
        <>
          <div className={styles["row"]}>
            <bdi>{pendingAddress}</bdi>
            <Badge tone="warn">{texts.pending}</Badge>
          </div>
          <p className={`${styles["quiet"]} ${styles["small"]}`}>{texts.pendingHint}</p>
        </>
      )}
      <Form
        submitLabel={hasAddress ? texts.change : texts.add}
        variant="plain"
        resetsOnSuccess
        onSubmit={({ address: newAddress = "" }) =>
          setAddress.mutateAsync({ body: { address: newAddress } })
        }
        cancelButton={
          hasAddress && (
            <AsyncButton onPress={() => removeAddress.mutateAsync({})}>{texts.remove}</AsyncButton>
          )
        }
      >
        <Field
          name="address"
          label={hasAddress ? texts.newAddress : texts.address}
          hint={texts.addressHint}
          type="email"
          isRequired
          maxLength={254}
          inputProps={{ autoComplete: "email" }}
        />
      </Form>
    </Card>
  );
};

/**
 * Confirms the address with the token in the URL's fragment. It needs a click, because browsers and
 * mail scanners open links on their own.
 */
const Confirmation = ({ pendingAddress }: { pendingAddress: string | null }) => {
  const navigate = useNavigate();
  const token = new URLSearchParams(useLocation().hash.slice(1)).get("confirm");
  const confirmAddress = useOperationMutation("confirmNotificationAddress", "getNotifications");
  if (token === null) return null;
  if (pendingAddress === null) return <Notice>{texts.nothingToConfirm}</Notice>;
  const confirm = async (): Promise<void> => {
    await confirmAddress.mutateAsync({ body: { token } });
    await navigate("/account/notifications", { replace: true });
  };
  return (
    <Notice>
      <p>{texts.confirmHint(pendingAddress)}</p>
      <div>
        <AsyncButton variant="primary" onPress={confirm}>
          {texts.confirm}
        </AsyncButton>
      </div>
    </Notice>
  );
};

const Kinds = ({ settings }: { settings: NotificationSettings }) => {
  const changeNotifications = useOperationMutation("changeNotifications", "getNotifications");
  const [isSaved, setSaved] = useState(false);
  const save = async (_fields: unknown, formData: FormData): Promise<void> => {
    const body = Object.fromEntries(kinds.map((kind) => [kind, formData.has(kind)]));
    await changeNotifications.mutateAsync({ body });
    setSaved(true);
  };
  return (
    <Card title={texts.kindsTitle}>
      <Form submitLabel={texts.save} onSubmit={save}>
        {kinds.map((kind) => (
          <Checkbox
            key={kind}
            name={kind}
            label={texts.kinds[kind]}
            defaultChecked={settings.kinds[kind]}
            onCheckedChange={() => setSaved(false)}
          />
        ))}
        {isSaved && <Notice tone="good">{texts.saved}</Notice>}
      </Form>
    </Card>
  );
};
