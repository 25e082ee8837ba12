import { useState } from "react";
import { useNavigate, useParams } from "react-router";
import type { WebhookEndpointData } from "../../api/operations.ts";
import { useCall, useChange } from "../../api/query.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog, Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { Action, Form } from "../../ui/form.tsx";
import { showTime } from "../../ui/format.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { Sentence } from "../../ui/sentence.tsx";
import { texts as uiTexts } from "../../ui/texts.ts";
import styles from "../../ui/ui.module.css";
import { DeliveryLog } from "./delivery-log.tsx";
import { EndpointState, LastOutcome } from "./endpoint-state.tsx";
import { texts } from "./texts.ts";

/** One endpoint and its delivery log, which stays readable after the endpoint is gone. */
const OneEndpoint = () => {
  const { id = "" } = useParams();
  const endpoints = useCall("listWebhookEndpoints", {});
  return (
    <Loaded query={endpoints}>
      {({ data }) => {
        const endpoint = data.find((one) => one.id === id);
        return (
          <Page
            title={endpoint?.name ?? texts.log}
            actions={endpoint === undefined ? undefined : <Actions endpoint={endpoint} />}
          >
            {endpoint === undefined ? (
              <Notice>{texts.gone}</Notice>
            ) : (
              <Card>
                <Facts endpoint={endpoint} />
              </Card>
            )}
            <DeliveryLog endpointId={id} />
          </Page>
        );
      }}
    </Loaded>
  );
};
export default OneEndpoint;

const Facts = ({ endpoint }: { endpoint: WebhookEndpointData }) => (
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
    <dd>{showTime(endpoint.dateCreated)}</dd>
    <dt>{texts.id}</dt>
    <dd>
      <code>{endpoint.id}</code>
    </dd>
  </dl>
);

const Actions = ({ endpoint }: { endpoint: WebhookEndpointData }) => {
  const [asked, setAsked] = useState<"rename" | "disable" | "remove">();
  const navigate = useNavigate();
  const change = useChange("changeWebhookEndpoint", "listWebhookEndpoints", "listDeliveries");
  const remove = useChange("deleteWebhookEndpoint", "listWebhookEndpoints");
  const path = { id: endpoint.id };
  const close = () => setAsked(undefined);
  return (
    <>
      <Button onPress={() => setAsked("rename")}>{texts.rename}</Button>
      {endpoint.enabled ? (
        <Button onPress={() => setAsked("disable")}>{texts.disable}</Button>
      ) : (
        <Action onPress={() => change.mutateAsync({ path, body: { enabled: true } })}>
          {texts.enable}
        </Action>
      )}
      <Button look="danger" onPress={() => setAsked("remove")}>
        {texts.remove}
      </Button>
      {asked === "rename" && (
        <Dialog title={texts.rename} onClose={close}>
          <Form
            submit={texts.rename}
            cancel={<Button onPress={close}>{uiTexts.cancel}</Button>}
            onSubmit={async ({ name = "" }) => {
              await change.mutateAsync({ path, body: { name } });
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
      {asked === "disable" && (
        <ConfirmDialog
          title={<Sentence words={texts.disableTitle} name={endpoint.name} />}
          confirm={texts.disable}
          onConfirm={() => change.mutateAsync({ path, body: { enabled: false } })}
          onClose={close}
        >
          {texts.disableText}
        </ConfirmDialog>
      )}
      {asked === "remove" && (
        <ConfirmDialog
          title={<Sentence words={texts.removeTitle} name={endpoint.name} />}
          confirm={texts.remove}
          onConfirm={async () => {
            await remove.mutateAsync({ path });
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
