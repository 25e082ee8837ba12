import { useState } from "react";
import { useNavigate, useParams } from "react-router";
import type { WebhookEndpointData } from "../../api/operations.ts";
import { useOperationQuery, useOperationMutation } from "../../api/query.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog, Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { AsyncButton, Form } from "../../ui/form.tsx";
import { formatDateTime } from "../../ui/format.ts";
import { QueryView } from "../../ui/query-view.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { Sentence } from "../../ui/sentence.tsx";
import { texts as uiTexts } from "../../ui/texts.ts";
import styles from "../../ui/ui.module.css";
import { DeliveryLog } from "./delivery-log.tsx";
import { EndpointState, LastOutcome } from "./endpoint-state.tsx";
import { texts } from "./texts.ts";

/** One endpoint with its delivery log. The log stays available after the endpoint is deleted. */
const EndpointDetails = () => {
  const { id = "" } = useParams();
  const endpoints = useOperationQuery("listWebhookEndpoints", {});
  return (
    <QueryView query={endpoints} pageTitle={texts.deliveryLog}>
      {({ data }) => {
        const endpoint = data.find((candidate) => candidate.id === id);
        return (
          <Page
            title={endpoint?.name ?? texts.deliveryLog}
            actions={endpoint === undefined ? undefined : <EndpointActions endpoint={endpoint} />}
          >
            {endpoint === undefined ? (
              <Notice>{texts.endpointMissing}</Notice>
            ) : (
              <Card>
                <EndpointProperties endpoint={endpoint} />
              </Card>
            )}
            <DeliveryLog endpointId={id} />
          </Page>
        );
      }}
    </QueryView>
  );
};
export default EndpointDetails;

const EndpointProperties = ({ endpoint }: { endpoint: WebhookEndpointData }) => (
  <dl className={styles["facts"]}>
    <dt>{texts.url}</dt>
    <dd>
      <bdi>{endpoint.url}</bdi>
    </dd>
    <dt>{texts.state}</dt>
    <dd>
      <EndpointState endpoint={endpoint} />
    </dd>
    <dt>{texts.lastOutcome}</dt>
    <dd>
      <LastOutcome endpoint={endpoint} />
    </dd>
    <dt>{texts.secret}</dt>
    <dd>
      <code>{endpoint.secretPrefix}…</code>
    </dd>
    <dt>{texts.created}</dt>
    <dd>{formatDateTime(endpoint.dateCreated)}</dd>
    <dt>{texts.id}</dt>
    <dd>
      <code>{endpoint.id}</code>
    </dd>
  </dl>
);

const EndpointActions = ({ endpoint }: { endpoint: WebhookEndpointData }) => {
  const [openDialog, setOpenDialog] = useState<"rename" | "disable" | "remove">();
  const navigate = useNavigate();
  const changeEndpoint = useOperationMutation(
    "changeWebhookEndpoint",
    "listWebhookEndpoints",
    "listDeliveries",
  );
  const deleteEndpoint = useOperationMutation("deleteWebhookEndpoint", "listWebhookEndpoints");
  const path = { id: endpoint.id };
  const close = () => setOpenDialog(undefined);
  return (
    <>
      <Button onPress={() => setOpenDialog("rename")}>{texts.rename}</Button>
      {endpoint.enabled ? (
        <Button onPress={() => setOpenDialog("disable")}>{texts.disable}</Button>
      ) : (
        <AsyncButton onPress={() => changeEndpoint.mutateAsync({ path, body: { enabled: true } })}>
          {texts.enable}
        </AsyncButton>
      )}
      <Button variant="danger" onPress={() => setOpenDialog("remove")}>
        {texts.remove}
      </Button>
      {openDialog === "rename" && (
        <Dialog title={texts.rename} onClose={close}>
          <Form
            submitLabel={texts.rename}
            cancelButton={<Button onPress={close}>{uiTexts.cancel}</Button>}
            onSubmit={async ({ name = "" }) => {
              await changeEndpoint.mutateAsync({ path, body: { name } });
              close();
            }}
          >
            <Field
              name="name"
              label={texts.newName}
              isRequired
              maxLength={100}
              defaultValue={endpoint.name}
            />
          </Form>
        </Dialog>
      )}
      {openDialog === "disable" && (
        <ConfirmDialog
          title={<Sentence template={texts.disableTitle} name={endpoint.name} />}
          confirmLabel={texts.disable}
          onConfirm={() => changeEndpoint.mutateAsync({ path, body: { enabled: false } })}
          onClose={close}
        >
          {texts.disableText}
        </ConfirmDialog>
      )}
      {openDialog === "remove" && (
        <ConfirmDialog
          title={<Sentence template={texts.removeTitle} name={endpoint.name} />}
          confirmLabel={texts.remove}
          onConfirm={async () => {
            await deleteEndpoint.mutateAsync({ path });
            await navigate("/webhooks");
          }}
          onClose={close}
        >
          {texts.removeText}
        </ConfirmDialog>
      )}
    </>
  );
};
