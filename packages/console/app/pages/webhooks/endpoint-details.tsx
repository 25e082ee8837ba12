import { useNavigate, useParams } from "react-router";
import type { ListedWebhookEndpoint, WebhookEndpointData } from "../../api/operations.ts";
import { useOperationQuery } from "../../api/query.ts";
import { useModeOf } from "../../frame/use-mode-of.ts";
import { Copyable } from "../../ui/copyable.tsx";
import { formatDateTime } from "../../ui/format.ts";
import { Notice } from "../../ui/notice.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import styles from "../../ui/ui.module.css";
import { DeliveryLog } from "./delivery-log.tsx";
import { EndpointMenu } from "./endpoint-menu.tsx";
import { EndpointState, LastOutcome } from "./endpoint-state.tsx";
import { texts } from "./texts.ts";

const back = { to: "/webhooks", label: texts.title };

/** One endpoint with its delivery log. The log stays available after the endpoint is deleted. */
const EndpointDetails = () => {
  const { id = "" } = useParams();
  const endpoints = useOperationQuery("listWebhookEndpoints", {});
  return (
    <QueryView query={endpoints} pageTitle={texts.deliveryLog}>
      {({ data }) => {
        const endpoint = data.find((candidate) => candidate.id === id);
        if (endpoint === undefined) {
          return (
            <Page title={texts.deliveryLog} back={back}>
              <Notice>{texts.endpointMissing}</Notice>
              <DeliveryLog endpointId={id} />
            </Page>
          );
        }
        return <EndpointView endpoint={endpoint} />;
      }}
    </QueryView>
  );
};
export default EndpointDetails;

const EndpointView = ({ endpoint }: { endpoint: ListedWebhookEndpoint }) => {
  const navigate = useNavigate();
  if (!useModeOf(endpoint)) return <Page title={texts.deliveryLog}>{null}</Page>;
  return (
    <Page
      title={endpoint.name}
      back={back}
      status={<EndpointState endpoint={endpoint} />}
      actions={<EndpointMenu endpoint={endpoint} onDeleted={() => navigate("/webhooks")} />}
    >
      <Card>
        <EndpointProperties endpoint={endpoint} />
      </Card>
      <DeliveryLog endpointId={endpoint.id} />
    </Page>
  );
};

const EndpointProperties = ({ endpoint }: { endpoint: WebhookEndpointData }) => (
  <dl className={styles["facts"]}>
    <dt>{texts.url}</dt>
    <dd>
      <Copyable text={endpoint.url} copyLabel={texts.copyUrl} />
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
      <Copyable text={endpoint.id} copyLabel={texts.copyId}>
        <code>{endpoint.id}</code>
      </Copyable>
    </dd>
  </dl>
);
