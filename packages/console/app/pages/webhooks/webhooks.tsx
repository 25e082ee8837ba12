import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import { call } from "../../api/call.ts";
import type { ListedWebhookEndpoint } from "../../api/operations.ts";
import { refresh, useCall } from "../../api/query.ts";
import { Field } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Loaded } from "../../ui/loaded.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { SecretDialog } from "../../ui/secret-dialog.tsx";
import styles from "../../ui/ui.module.css";
import { EndpointState, LastOutcome } from "./endpoint-state.tsx";
import { Sparkline } from "./sparkline.tsx";
import { texts } from "./texts.ts";
import { VerifyCode } from "./verify-code.tsx";

const followMs = 10_000;

/** The webhook endpoints and how they fare; a new one's secret is shown once. */
const Webhooks = () => {
  const endpoints = useCall("listWebhookEndpoints", {}, { everyMs: followMs });
  const client = useQueryClient();
  // Only here, and only until the person has stored it.
  const [secret, setSecret] = useState<string>();
  const create = async ({ url = "", name = "" }): Promise<void> => {
    const made = await call("createWebhookEndpoint", { body: { url, name } });
    setSecret(made.secret);
    await refresh(client, ["listWebhookEndpoints"]);
  };
  return (
    <Page title={texts.title}>
      <p className={styles["quiet"]}>{texts.intro}</p>
      <Card>
        <Loaded query={endpoints}>
          {({ data }) =>
            data.length === 0 ? (
              <p className={styles["quiet"]}>{texts.none}</p>
            ) : (
              <EndpointTable endpoints={data} />
            )
          }
        </Loaded>
      </Card>
      <Card title={texts.createTitle}>
        <Form submit={texts.create} onSubmit={create} isEmptied>
          <Field name="name" label={texts.name} hint={texts.nameHint} isRequired maxLength={100} />
          <Field
            name="url"
            label={texts.url}
            hint={texts.urlHint}
            isRequired
            input={{ placeholder: "https://", inputMode: "url" }}
          />
        </Form>
      </Card>
      {endpoints.data !== undefined && (
        <Card title={texts.verify}>
          <VerifyCode headerPrefix={endpoints.data.headerPrefix} />
        </Card>
      )}
      {secret !== undefined && (
        <SecretDialog
          title={texts.secretTitle}
          secret={secret}
          onStored={() => setSecret(undefined)}
        />
      )}
    </Page>
  );
};
export default Webhooks;

const EndpointTable = ({ endpoints }: { endpoints: readonly ListedWebhookEndpoint[] }) => (
  <table className={styles["table"]}>
    <thead>
      <tr>
        <th>{texts.name}</th>
        <th>{texts.url}</th>
        <th>{texts.state}</th>
        <th>{texts.lastOutcome}</th>
        <th>{texts.recent}</th>
      </tr>
    </thead>
    <tbody>
      {endpoints.map((endpoint) => (
        <tr key={endpoint.id}>
          <td data-label={texts.name}>
            <Link to={`/webhooks/${endpoint.id}`}>
              <bdi>{endpoint.name}</bdi>
            </Link>
          </td>
          <td data-label={texts.url}>
            <bdi>{endpoint.url}</bdi>
          </td>
          <td data-label={texts.state}>
            <EndpointState endpoint={endpoint} />
          </td>
          <td data-label={texts.lastOutcome}>
            <LastOutcome endpoint={endpoint} />
          </td>
          <td data-label={texts.recent}>
            <Sparkline hours={endpoint.recent} />
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);
