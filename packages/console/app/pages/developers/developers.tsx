import { type IconNode, bookOpen, code, keyRound, webhook } from "@payment-links/design/icons";
import { useEffect } from "react";
import { Link, useLocation } from "react-router";
import { useOperationQuery } from "../../api/query.ts";
import { mode } from "../../mode.ts";
import { Copyable } from "../../ui/copyable.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import uiStyles from "../../ui/ui.module.css";
import { CheckForm } from "./check-form.tsx";
import styles from "./developers.module.css";
import { getLinkSamples } from "./link-samples.ts";
import { SampleBlock } from "./sample-block.tsx";
import { texts } from "./texts.ts";
import { getWebhookSamples } from "./webhook-samples.ts";

/** What developers need to connect their software: references, code samples, a signature check. */
const Developers = () => {
  const endpoints = useOperationQuery("listWebhookEndpoints", {});
  useScrollToHash();
  const { origin } = location;
  return (
    <Page title={texts.title}>
      <Guides />
      <Card title={texts.createLink}>
        <p className={uiStyles["quiet"]}>
          {mode === "test" ? texts.createLinkTextTest : texts.createLinkText}
        </p>
        <dl className={uiStyles["facts"]}>
          <dt>{texts.baseUrl}</dt>
          <dd>
            <Copyable text={origin} copyLabel={texts.copyBaseUrl}>
              <code>{origin}</code>
            </Copyable>
          </dd>
        </dl>
        <SampleBlock samples={getLinkSamples(origin)} />
      </Card>
      <div className={`${uiStyles["stack"]} ${styles["anchor"]}`} id="webhooks">
        <QueryView query={endpoints} placeholder={<Skeleton height="40rem" />}>
          {({ headerPrefix }) => (
            <>
              <Card title={texts.verifySignatures}>
                <p className={uiStyles["quiet"]}>{texts.verifySignaturesText}</p>
                <SampleBlock samples={getWebhookSamples(headerPrefix)} />
              </Card>
              <Card title={texts.checkTitle}>
                <p className={uiStyles["quiet"]}>{texts.checkText}</p>
                <CheckForm headerPrefix={headerPrefix} />
              </Card>
            </>
          )}
        </QueryView>
      </div>
    </Page>
  );
};
export default Developers;

/** Scrolls to the section that the URL names, which the browser cannot find while it loads. */
const useScrollToHash = (): void => {
  const { hash } = useLocation();
  useEffect(() => document.getElementById(hash.slice(1))?.scrollIntoView(), [hash]);
};

const Guides = () => (
  <ul className={styles["guides"]}>
    <li>
      <a href="/docs">
        <GuideText icon={bookOpen} title={texts.docs} text={texts.docsText} />
      </a>
    </li>
    <li>
      <a href="/docs/api">
        <GuideText icon={code} title={texts.apiReference} text={texts.apiReferenceText} />
      </a>
    </li>
    <li>
      <Link to="/keys">
        <GuideText icon={keyRound} title={texts.keys} text={texts.keysText} />
      </Link>
    </li>
    <li>
      <Link to="/webhooks">
        <GuideText icon={webhook} title={texts.webhooks} text={texts.webhooksText} />
      </Link>
    </li>
  </ul>
);

const GuideText = ({ icon, title, text }: { icon: IconNode; title: string; text: string }) => (
  <>
    <Icon node={icon} />
    <strong>{title}</strong>
    <span>{text}</span>
  </>
);
