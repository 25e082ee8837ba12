import { plus, webhook } from "@payment-links/design/icons";
import { useState } from "react";
import { Link } from "react-router";
import { createDuplicateGuard } from "../../api/duplicate-guard.ts";
import type { ListedWebhookEndpoint } from "../../api/operations.ts";
import { useOperationQuery } from "../../api/query.ts";
import { isOfMode, mode } from "../../mode.ts";
import { Button } from "../../ui/button.tsx";
import { Copyable } from "../../ui/copyable.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { SkeletonTable } from "../../ui/skeleton.tsx";
import { Table } from "../../ui/table.tsx";
import styles from "../../ui/ui.module.css";
import { useSecretDialog } from "../../ui/use-secret-dialog.tsx";
import { EndpointMenu } from "./endpoint-menu.tsx";
import { EndpointState, LastOutcome } from "./endpoint-state.tsx";
import { NewEndpointDialog } from "./new-endpoint.tsx";
import { Sparkline } from "./sparkline.tsx";
import { texts } from "./texts.ts";

const refetchIntervalMs = 10_000;

/** The webhook endpoints and their health. The secret of a new endpoint is shown once. */
const Webhooks = () => {
  const endpoints = useOperationQuery("listWebhookEndpoints", {}, { refetchIntervalMs });
  const [isCreating, setCreating] = useState(false);
  // It outlives the dialog, because its user may close it after a lost response.
  const [duplicateGuard] = useState(createDuplicateGuard);
  const [secretDialog, showSecret] = useSecretDialog(texts.secretTitle);
  const createButton = (
    <Button variant="primary" icon={plus} onPress={() => setCreating(true)}>
      {texts.create}
    </Button>
  );
  return (
    <Page title={texts.title} actions={createButton}>
      <p className={styles["quiet"]}>
        {mode === "test" ? texts.introTest : texts.intro}{" "}
        <Link to="/developers#webhooks">{texts.verifySignatures}</Link>
      </p>
      <Card>
        <QueryView query={endpoints} placeholder={<SkeletonTable rows={2} />}>
          {(list) => {
            const data = list.data.filter(isOfMode);
            return data.length === 0 ? (
              <EmptyState icon={webhook} title={texts.emptyTitle} action={createButton}>
                {mode === "test" ? texts.emptyTest : texts.empty}
              </EmptyState>
            ) : (
              <EndpointTable endpoints={data} />
            );
          }}
        </QueryView>
      </Card>
      {isCreating && (
        <NewEndpointDialog
          duplicateGuard={duplicateGuard}
          onSecret={showSecret}
          onClose={() => setCreating(false)}
        />
      )}
      {secretDialog}
    </Page>
  );
};
export default Webhooks;

const EndpointTable = ({ endpoints }: { endpoints: readonly ListedWebhookEndpoint[] }) => (
  <Table
    rows={endpoints}
    columns={[
      [
        texts.name,
        ({ id, name }) => (
          <Link to={`/webhooks/${id}`}>
            <bdi>{name}</bdi>
          </Link>
        ),
      ],
      [texts.url, ({ name, url }) => <Copyable text={url} copyLabel={texts.copyUrlOf(name)} />],
      [texts.state, (endpoint) => <EndpointState endpoint={endpoint} />],
      [texts.lastOutcome, (endpoint) => <LastOutcome endpoint={endpoint} />],
      [texts.last24Hours, ({ recent }) => <Sparkline hours={recent} />],
      [texts.actions, (endpoint) => <EndpointMenu endpoint={endpoint} />, "actions"],
    ]}
  />
);
