import { useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { Link } from "react-router";
import { call } from "../../api/call.ts";
import { createMaker } from "../../api/make-once.ts";
import type { ListedWebhookEndpoint } from "../../api/operations.ts";
import { refresh, useCall } from "../../api/query.ts";
import { Field } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Loaded } from "../../ui/loaded.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { Table } from "../../ui/table.tsx";
import styles from "../../ui/ui.module.css";
import { useSecret } from "../../ui/use-secret.tsx";
import { EndpointState, LastOutcome } from "./endpoint-state.tsx";
import { Sparkline } from "./sparkline.tsx";
import { texts } from "./texts.ts";
import { VerifyCode } from "./verify-code.tsx";

const followMs = 10_000;

/** The webhook endpoints and how they fare; a new one's secret is shown once. */
const Webhooks = () => {
  const endpoints = useCall("listWebhookEndpoints", {}, { everyMs: followMs });
  const client = useQueryClient();
  const maker = useRef(createMaker());
  const [secretDialog, showSecret] = useSecret(texts.secretTitle);
  const create = async ({ url = "", name = "" }): Promise<void> => {
    try {
      const made = await maker.current({
        name,
        list: async () => (await call("listWebhookEndpoints")).data,
        make: () => call("createWebhookEndpoint", { body: { url, name } }),
      });
      showSecret(made.secret);
    } finally {
      // Not waited for: it is read as soon as there is a connection.
      void refresh(client, ["listWebhookEndpoints"]);
    }
  };
  return (
    <Page title={texts.title}>
      <p className={styles["quiet"]}>{texts.intro}</p>
      <Card>
        <Loaded query={endpoints}>{({ data }) => <EndpointTable endpoints={data} />}</Loaded>
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
      {secretDialog}
    </Page>
  );
};
export default Webhooks;

const EndpointTable = ({ endpoints }: { endpoints: readonly ListedWebhookEndpoint[] }) => (
  <Table
    rows={endpoints}
    none={texts.none}
    columns={[
      [
        texts.name,
        ({ id, name }) => (
          <Link to={`/webhooks/${id}`}>
            <bdi>{name}</bdi>
          </Link>
        ),
      ],
      [texts.url, ({ url }) => <bdi>{url}</bdi>],
      [texts.state, (endpoint) => <EndpointState endpoint={endpoint} />],
      [texts.lastOutcome, (endpoint) => <LastOutcome endpoint={endpoint} />],
      [texts.recent, ({ recent }) => <Sparkline hours={recent} />],
    ]}
  />
);
