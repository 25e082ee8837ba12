import { useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { Link } from "react-router";
import { callOperation } from "../../api/call.ts";
import { createDuplicateGuard } from "../../api/duplicate-guard.ts";
import type { ListedWebhookEndpoint } from "../../api/operations.ts";
import { invalidateOperations, useOperationQuery } from "../../api/query.ts";
import { Field } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { Table } from "../../ui/table.tsx";
import styles from "../../ui/ui.module.css";
import { useSecretDialog } from "../../ui/use-secret-dialog.tsx";
import { EndpointState, LastOutcome } from "./endpoint-state.tsx";
import { Sparkline } from "./sparkline.tsx";
import { texts } from "./texts.ts";
import { VerifyCode } from "./verify-code.tsx";

const refetchIntervalMs = 10_000;

/** The webhook endpoints and their health. The secret of a new endpoint is shown once. */
const Webhooks = () => {
  const endpoints = useOperationQuery("listWebhookEndpoints", {}, { refetchIntervalMs });
  const client = useQueryClient();
  const duplicateGuard = useRef(createDuplicateGuard());
  const [secretDialog, showSecret] = useSecretDialog(texts.secretTitle);
  const create = async ({ url = "", name = "" }): Promise<void> => {
    try {
      const createdEndpoint = await duplicateGuard.current({
        name,
        list: async () => (await callOperation("listWebhookEndpoints")).data,
        create: () => callOperation("createWebhookEndpoint", { body: { url, name } }),
      });
      showSecret(createdEndpoint.secret);
    } finally {
      // Not awaited, because an offline browser delays the refetch until it is online again.
      void invalidateOperations(client, ["listWebhookEndpoints"]);
    }
  };
  return (
    <Page title={texts.title}>
      <p className={styles["quiet"]}>{texts.intro}</p>
      <Card>
        <QueryView query={endpoints}>{({ data }) => <EndpointTable endpoints={data} />}</QueryView>
      </Card>
      <Card title={texts.createTitle}>
        <Form submitLabel={texts.create} onSubmit={create} resetsOnSuccess>
          <Field name="name" label={texts.name} hint={texts.nameHint} isRequired maxLength={100} />
          <Field
            name="url"
            label={texts.url}
            hint={texts.urlHint}
            isRequired
            inputProps={{ placeholder: "https://", inputMode: "url" }}
          />
        </Form>
      </Card>
      {endpoints.data !== undefined && (
        <Card title={texts.verifySignatures}>
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
    emptyText={texts.empty}
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
      [texts.last24Hours, ({ recent }) => <Sparkline hours={recent} />],
    ]}
  />
);
