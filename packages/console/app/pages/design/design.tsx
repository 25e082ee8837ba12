import { download, inbox, link } from "@payment-links/design/icons";
import { Badge } from "../../ui/badge.tsx";
import { ButtonLink } from "../../ui/button.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { ActionMenu } from "../../ui/action-menu.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Pager } from "../../ui/pager.tsx";
import { Skeleton, SkeletonTable } from "../../ui/skeleton.tsx";
import { Table } from "../../ui/table.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import styles from "../../ui/ui.module.css";
import { ButtonStates } from "./button-states.tsx";
import { FieldStates } from "./field-states.tsx";

/**
 * All components in all states, for the developers of the console. Its texts are in English only.
 * `test/console-browser/design.test.ts` compares it with reference pictures.
 */
const Design = () => (
  <Page
    title="Design system"
    back={{ to: "/", label: "Overview" }}
    status={<Badge tone="accent">For developers</Badge>}
  >
    <Texts />
    <ButtonStates />
    <FieldStates />
    <Card title="Badges and messages">
      <div className={styles["row"]}>
        <Badge tone="accent">Active</Badge>
        <Badge tone="good">Completed</Badge>
        <Badge tone="warn">Needs attention</Badge>
        <Badge tone="bad">Failed</Badge>
        <Badge tone="quiet">Inactive</Badge>
      </div>
      <Notice>Payments can take a few minutes.</Notice>
      <Notice tone="good">The wallet was added.</Notice>
      <Notice tone="warn">The key expires in 3 days.</Notice>
      <Notice tone="bad">We couldn't reach the server. Check your connection and try again.</Notice>
    </Card>
    <Card title="Data">
      <Tabs label="Status" tabs={tabs} />
      <DataTable />
      <Pager page={{ offset: 0, limit: 20, nextOffset: 20 }} />
    </Card>
    <Card title="Loading">
      <Skeleton height="3rem" />
      <SkeletonTable rows={2} />
    </Card>
    <Card>
      <EmptyState
        icon={inbox}
        title="No links yet"
        action={
          <ButtonLink to="/links/new" variant="primary">
            Create link
          </ButtonLink>
        }
      >
        Your payment links will appear here.
      </EmptyState>
    </Card>
  </Page>
);
export default Design;

const Texts = () => (
  <Card title="Section title" actions={<a href="#main">View all</a>}>
    <h3>Part of a section</h3>
    <p>
      Body text with a <a href="#main">link</a>, <code>code</code> and <strong>emphasis</strong>.
    </p>
    <p className={styles["quiet"]}>Muted text for what is less important.</p>
    <dl className={styles["facts"]}>
      <dt>Status</dt>
      <dd>
        <Badge tone="good">Completed</Badge>
      </dd>
      <dt>Amount</dt>
      <dd className={styles["numeric"]}>1,250.00 USDC</dd>
    </dl>
    <code className={styles["secret"]}>whsec_0123456789abcdef</code>
    <pre className={styles["code"]}>{'{\n  "toAmount": "25"\n}'}</pre>
  </Card>
);

const tabs = [
  { to: "?", label: "All", isCurrent: true, count: 128 },
  { to: "?status=active", label: "Active", isCurrent: false, count: 12 },
  { to: "?status=completed", label: "Completed", isCurrent: false },
];

const rows = [
  { id: "1", name: "Order 1001", amount: "1,250.00 USDC", date: "Nov 2, 2026, 9:30 AM" },
  { id: "2", name: "Order 1002", amount: "8.50 USDC", date: "Nov 12, 2026, 11:05 PM" },
];

const DataTable = () => (
  <Table
    rows={rows}
    columns={[
      ["Description", ({ name }) => <a href="#main">{name}</a>],
      ["Status", () => <Badge tone="accent">Active</Badge>],
      ["Created", ({ date }) => date, "date"],
      ["Amount", ({ amount }) => amount, "numeric"],
      ["Actions", ({ name }) => <RowMenu name={name} />, "actions"],
    ]}
  />
);

const RowMenu = ({ name }: { name: string }) => (
  <ActionMenu
    label={`Actions: ${name}`}
    items={[
      { label: "View link", icon: link, to: "/links" },
      { label: "Export", icon: download, href: "/v1/openapi.json" },
      { label: "Deactivate", tone: "danger", onAction: failAction },
    ]}
  />
);

const failAction = (): never => {
  throw new Error("the action of the sample failed");
};
