import type { OwnPaymentLink } from "../../api/operations.ts";
import { Copyable } from "../../ui/copyable.tsx";
import { formatDateTime } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { TruncatedCode } from "../../ui/truncated-code.tsx";
import styles from "./links.module.css";
import { GapLimitHelp } from "./gap-limit-help.tsx";
import { texts } from "./texts.ts";

/**
 * The gap limit of most Bitcoin wallets: how many unused addresses in a row they check for
 * payments.
 */
export const addressGapMax = 20;

/** The properties of a link. */
export const LinkFacts = ({ link }: { link: OwnPaymentLink }) => (
  <Card title={texts.details}>
    <dl className={styles["facts"]}>
      {link.description !== null && (
        <div>
          <dt>{texts.description}</dt>
          <dd>
            <bdi>{link.description}</bdi>
          </dd>
        </div>
      )}
      <div>
        <dt>{texts.network}</dt>
        <dd>{link.token.chain.name}</dd>
      </div>
      <div>
        <dt>{texts.destinationAddress}</dt>
        <dd>
          <Copyable text={link.destinationAddress} copyLabel={texts.copyAddress}>
            <TruncatedCode text={link.destinationAddress} />
          </Copyable>
        </dd>
      </div>
      <div>
        <dt>{texts.created}</dt>
        <dd>{formatDateTime(link.dateCreated)}</dd>
      </div>
      <div>
        <dt>{texts.expires}</dt>
        <dd>{link.expirationDate === null ? texts.never : formatDateTime(link.expirationDate)}</dd>
      </div>
      <div>
        <dt>{texts.maxUsage}</dt>
        <dd>{link.maxUsage ?? texts.unlimited}</dd>
      </div>
      {link.addressGap !== null && (
        <div>
          <dt>{texts.addressGap}</dt>
          <dd>
            {texts.addressGapCount(String(link.addressGap), String(addressGapMax))}
            <GapLimitHelp />
          </dd>
        </div>
      )}
      <div>
        <dt>{texts.id}</dt>
        <dd>
          <Copyable text={link.id} copyLabel={texts.copyId}>
            <TruncatedCode text={link.id} />
          </Copyable>
        </dd>
      </div>
      {link.transactionUrl !== null && (
        <div>
          <dt>{texts.receipt}</dt>
          <dd>
            <a href={link.transactionUrl}>{texts.viewReceipt}</a>
          </dd>
        </div>
      )}
    </dl>
  </Card>
);
