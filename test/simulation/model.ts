import type { OutgoingRecord } from "@payment-links/bus";
import { Decimal } from "@payment-links/contracts";
import { createDepositModel } from "./deposit-model.ts";
import { assertInvariant } from "./finding.ts";
import {
  type EarlyTransfer,
  type ModelTransfer,
  type PaymentIdentity,
  type Order,
  type Payment,
  matchesIdentity,
  formatIdentity,
} from "./model-transfer.ts";

export type Endpoint = { number: number; account: number; host: string; secret: string };

type LinkData = {
  id: string;
  version: number;
  status: string;
  receivedAmount: string;
  currentUsage: number;
};

type LinkEvent = {
  id: string;
  type: string;
  link: LinkData;
  transaction:
    | { id: string; sourceTransaction: string; amount: string; status: string; reason?: string }
    | undefined;
};

type Webhook = {
  endpoint: Endpoint;
  deliveryId: string;
  type: string;
  linkId: string;
  /** The payment that the event reports. Undefined for a completed link. */
  payment: Payment | undefined;
  isDelivered: boolean;
};

const succeededType = "payment_link.transaction.succeeded";
const unappliedType = "payment_link.transaction.unapplied";
const completedType = "payment_link.completed";

/**
 * Tracks the true state and what the system has published so far. `publishesUnconfirmed` says
 * whether payments are published before they are in a block.
 */
export const createModel = ({
  count,
  publishesUnconfirmed,
}: {
  count: (event: string) => void;
  publishesUnconfirmed: boolean;
}) => {
  const orders: Order[] = [];
  const payments: Payment[] = [];
  const earlyTransfers: EarlyTransfer[] = [];
  const endpoints: Endpoint[] = [];
  const linkEvents = new Map<string, Map<string, LinkEvent>>();
  const settlements = new Map<string, SettlementData>();
  const restoredServices = new Set<string>();
  const lostEventIds = new Set<string>();
  const unknownNonceHashes = new Set<string>();
  /** Transactions that were first published as unconfirmed. */
  const unconfirmedHashes = new Set<string>();
  /** Settlement IDs by payment and source. A notice has its own ID. */
  const settlementIds = new Map<string, string>();
  const publishedEventIds = new Set<string>();
  const webhooks = new Map<string, Webhook>();

  const findOrder = (linkId: string): Order => {
    const order = orders.find((candidate) => candidate.linkId === linkId);
    assertInvariant(order !== undefined, () => "a link was published that was never ordered");
    return order;
  };

  /**
   * If a transfer was sent before its link had the address, converts it into a payment of the link,
   * unless the listener knew the transfer before (rule CHAIN-28).
   */
  const claimEarlyTransfer = (
    identity: PaymentIdentity,
    linkId: string | undefined,
  ): Payment | undefined => {
    const earlyTransfer = earlyTransfers.find(({ transfer }) =>
      matchesIdentity(transfer, identity),
    );
    const order = orders.find((candidate) => candidate.linkId === linkId);
    if (earlyTransfer === undefined || order === undefined) return undefined;
    const { address, transfer } = earlyTransfer;
    if (
      order.previouslyKnownHashes.has(transfer.hash) ||
      address !== (order.reference ?? address)
    ) {
      return undefined;
    }
    const payment = Object.assign(transfer, { order, flaw: undefined, isDoubtful: true });
    payments.push(payment);
    count("early transfers that pay a link");
    return payment;
  };

  /** Finds the payment that was published for a link. */
  const findPayment = (identity: PaymentIdentity, linkId: string | undefined): Payment => {
    const payment =
      payments.find(
        (candidate) => matchesIdentity(candidate, identity) && candidate.order.linkId === linkId,
      ) ?? claimEarlyTransfer(identity, linkId);
    assertInvariant(
      payment !== undefined,
      () => `a payment was reported that was never made: ${formatIdentity(identity)}`,
    );
    return payment;
  };

  /**
   * Returns true if the failure of a payment possibly cannot be detected, for one of these reasons:
   *
   * - It was never sent.
   * - It was orphaned before two nodes had reported its nonce.
   * - No node reported the transaction it depends on while it was unconfirmed.
   * - The listener was restored to a state before it saw the payment.
   */
  const mayStayProcessing = (transfer: ModelTransfer): boolean =>
    transfer.isForged ||
    isFailureUnprovable(transfer) ||
    unknownNonceHashes.has(transfer.hash) ||
    restoredServices.has("settlement-listener");

  const isFailureUnprovable = ({ hash, isOrphan, isUndecidable }: ModelTransfer): boolean =>
    isUndecidable || (isOrphan && !unconfirmedHashes.has(hash));

  /**
   * Returns true if the scan can have missed a payment, which only a rescan then finds. This
   * happens if a pruned node omitted its block without an error, or if the listener was restored to
   * a state before it detected the payment.
   */
  const mayBeMissed = (payment: Payment): boolean =>
    payment.isOmittedByPrunedNode ||
    (publishesUnconfirmed && payment.isOnChain && restoredServices.has("settlement-listener"));

  /**
   * Returns true if a payment was published as unconfirmed and the listener could have been
   * restored to an earlier state.
   */
  const mayBeForgotten = (listedPayment: ListedPayment): boolean =>
    listedPayment.status === "processing" && restoredServices.has("settlement-listener");

  const describeLink = (order: Order): string => `link ${order.number}`;

  const deposits = createDepositModel({
    orders,
    payments,
    mayStayProcessing,
    isListenerRestored: () => restoredServices.has("settlement-listener"),
  });

  const receiveLinkEvent = (event: LinkEvent): void => {
    const eventsOfLink = linkEvents.get(event.link.id) ?? new Map<string, LinkEvent>();
    linkEvents.set(event.link.id, eventsOfLink);
    const duplicate = [...eventsOfLink.values()].find(
      (otherEvent) => otherEvent.link.version === event.link.version,
    );
    assertInvariant(
      duplicate === undefined,
      () =>
        `two events of one link have version ${event.link.version}: ${duplicate?.type}, ${event.type}`,
    );
    const latestVersion = Math.max(
      0,
      ...[...eventsOfLink.values()].map(({ link }) => link.version),
    );
    assertInvariant(
      event.link.version > latestVersion,
      () => `version ${event.link.version} of a link was published after version ${latestVersion}`,
    );
    eventsOfLink.set(event.id, event);
    if (event.type === unappliedType) count("unapplied payments published");
    else if (event.transaction !== undefined) deposits.onCredited(event.transaction, event.link.id);
  };

  const receiveSettlement = (data: SettlementData): void => {
    const payment = findPayment(data, data.paymentLinkId);
    const previousSettlement = settlements.get(data.id);
    const isDuplicate =
      data.version === previousSettlement?.version && data.status === previousSettlement.status;
    assertInvariant(
      isDuplicate ||
        data.version > (previousSettlement?.version ?? 0) ||
        restoredServices.has("settlement-listener"),
      () =>
        `payment ${payment.number}: version ${data.version} after ${previousSettlement?.version}`,
    );
    settlements.set(data.id, data);
    const isNotice = data.source.startsWith("provider:");
    assertInvariant(
      isNotice ? payment.isAlsoReportedByProvider || !payment.isOnChain : payment.isOnChain,
      () => `payment ${payment.number} was published by ${data.source}`,
    );
    if (previousSettlement === undefined && data.blockNumber === null && !isNotice)
      unconfirmedHashes.add(payment.hash);
    if (publishesUnconfirmed && data.status === "processing" && payment.isOnChain) {
      const isDropped = data.isOrphaned === true;
      if (isDropped) count("payments orphaned");
      else count(data.blockNumber === null ? "payments unconfirmed" : "payments in a block");
    }
    const paymentAndSource = `${payment.number} ${data.source}`;
    const id = settlementIds.get(paymentAndSource) ?? data.id;
    assertInvariant(id === data.id, () => `payment ${payment.number} was published under two ids`);
    settlementIds.set(paymentAndSource, data.id);
    assertInvariant(
      data.status !== "failed" || payment.finalStatus === "failed" || payment.isDoubtful,
      () => `payment ${payment.number} was published as failed, but has not failed`,
    );
    assertInvariant(
      data.status !== "settled" || (payment.finalStatus === "settled" && payment.isFinal),
      () => `payment ${payment.number} was published as settled, but is not settled`,
    );
  };

  /** Asserts that a webhook shows its link as it was at or after its event. */
  const assertWebhookState = ({ data, type }: WebhookBody): void => {
    const events = [...(linkEvents.get(data.paymentLinkId)?.values() ?? [])];
    const linkEvent = events.find(
      (event) =>
        event.type === type &&
        formatIdentity(event.transaction) === formatIdentity(data.transaction),
    );
    assertInvariant(linkEvent !== undefined, () => `a webhook ${type} was sent before its event`);
    assertInvariant(
      linkEvent.transaction?.reason === data.transaction?.reason,
      () => `a webhook ${type} has another reason than its event: ${data.transaction?.reason}`,
    );
    const isPublishedState = events.some(
      ({ link }) =>
        link.version >= linkEvent.link.version &&
        link.receivedAmount === data.receivedAmount &&
        link.currentUsage === data.currentUsage,
    );
    assertInvariant(
      isPublishedState,
      () => `a webhook ${type} shows an older state: ${data.receivedAmount}`,
    );
  };

  return {
    orders,
    payments,
    earlyTransfers,
    endpoints,
    deposits,
    /** Called when a service continues with an older state of its database. */
    onServiceRestored: (service: string): void => {
      restoredServices.add(service);
    },
    /** Called when a transaction was orphaned before two nodes had reported its nonce (rule CHAIN-5). */
    onUnknownNonce: (hash: string): void => {
      unknownNonceHashes.add(hash);
    },
    /** Called when the broker has lost a record that some consumers possibly have not received. */
    onRecordLost: ({ headers }: Pick<OutgoingRecord, "headers">): void => {
      lostEventIds.add(headers["ce_id"] ?? "");
    },

    /** Called when the bus has permanently stored a record. */
    onRecordPublished: ({ topic, headers, value }: OutgoingRecord): void => {
      const id = headers["ce_id"] ?? "";
      if (publishedEventIds.has(id)) return;
      publishedEventIds.add(id);
      const type = headers["ce_type"] ?? "";
      assertInvariant(
        !topic.endsWith(".dead-letter"),
        () => `a record was dead-lettered: ${value.slice(0, 400)}`,
      );
      // Events about a chain's progress do not have the state of a payment.
      const isPayment = type !== "settlement.chain_advanced";
      if (type.startsWith("deposit.")) deposits.receiveEvent(type, JSON.parse(value));
      else if (topic === "settlements.v1" && isPayment) receiveSettlement(JSON.parse(value));
      // Events with other prefixes belong to the bus itself.
      if (!type.startsWith("payment_link.") || type.endsWith(".snapshot")) return;
      const { link, transaction } = JSON.parse(value);
      receiveLinkEvent({ id, type, link, transaction });
    },

    /** Asserts that a webhook is expected. If it is delivered again, it must be unchanged. */
    receiveWebhook: (endpoint: Endpoint, deliveryId: string, body: WebhookBody): Webhook => {
      const { data, type } = body;
      const order = findOrder(data.paymentLinkId);
      assertInvariant(
        body.id === deliveryId,
        () => "a webhook has different ids in its header and body",
      );
      assertInvariant(
        order.account === endpoint.account,
        () => "a webhook was sent to another account",
      );
      const payment = data.transaction && findPayment(data.transaction, data.paymentLinkId);
      assertInvariant(
        (type === succeededType || type === unappliedType) === (payment !== undefined),
        () => `a webhook ${type} ${payment === undefined ? "without" : "with"} a payment`,
      );
      if (payment !== undefined) {
        assertInvariant(
          payment.order === order && payment.finalStatus === "settled" && payment.isFinal,
          () => `a webhook reports payment ${payment.number}, which is not settled`,
        );
      }
      const paidAmount = payments
        .filter(
          (candidate) =>
            candidate.order === order && candidate.finalStatus === "settled" && candidate.isFinal,
        )
        .reduce((sum, paidPayment) => sum.plus(paidPayment.amount), new Decimal(0));
      assertInvariant(
        paidAmount.greaterThanOrEqualTo(data.receivedAmount),
        () =>
          `a webhook reports that ${describeLink(order)} received ${data.receivedAmount}, but only ${paidAmount.toFixed()} was paid`,
      );
      const knownWebhook = webhooks.get(deliveryId);
      const webhook: Webhook = knownWebhook ?? {
        endpoint,
        deliveryId,
        type,
        linkId: data.paymentLinkId,
        payment,
        isDelivered: false,
      };
      const isSame =
        webhook.endpoint === endpoint &&
        webhook.type === type &&
        webhook.linkId === data.paymentLinkId &&
        webhook.payment === payment;
      assertInvariant(isSame, () => "a delivery id is used for two webhooks");
      const duplicate = [...webhooks.values()].find(
        (otherWebhook) =>
          otherWebhook.deliveryId !== deliveryId &&
          otherWebhook.endpoint === endpoint &&
          otherWebhook.type === type &&
          otherWebhook.linkId === data.paymentLinkId &&
          otherWebhook.payment === payment,
      );
      assertInvariant(
        duplicate === undefined,
        () => `a webhook was sent under two delivery ids: ${type}`,
      );
      assertWebhookState(body);
      webhooks.set(deliveryId, webhook);
      return webhook;
    },

    /**
     * Replays each link's events after all work is done, and compares all published data with the
     * true state.
     */
    /** Asserts that the totals of an account's overview match its payments. */
    assertOverview: (
      { received, unapplied }: OverviewResponse,
      listedPayments: readonly ListedPayment[],
    ): void => {
      const sum = (amounts: readonly string[]) =>
        amounts.reduce((total, amount) => total.plus(amount), new Decimal(0)).toFixed();
      const applied = listedPayments.filter((payment) => payment.applied);
      const settled = listedPayments.filter(
        ({ reason, status }) => status === "settled" && reason !== "duplicate",
      );
      const expectedText = `${sum(applied.map(({ amount }) => amount))} in ${applied.length}`;
      const paymentCount = received.reduce(
        (total, receivedRow) => total + receivedRow.paymentCount,
        0,
      );
      const shownText = `${sum(received.map(({ amount }) => amount))} in ${paymentCount}`;
      assertInvariant(
        shownText === expectedText,
        () => `an overview shows ${shownText} instead of ${expectedText}`,
      );
      assertInvariant(
        unapplied.count === settled.length - applied.length,
        () =>
          `an overview shows ${unapplied.count} unapplied payments instead of ${settled.length - applied.length}`,
      );
    },

    /** Returns true if an operator must request a rescan of all blocks. */
    mayHaveMissedAny: (): boolean =>
      payments.some((payment) => payment.isFinal && mayBeMissed(payment)),

    /**
     * Returns true if a published payment has provably failed, but the failure is not published yet
     * because older blocks have not been scanned.
     */
    hasMissingFailures: (): boolean =>
      [...settlements.values()].some((data) => {
        const payment = findPayment(data, data.paymentLinkId);
        return (
          data.status === "processing" &&
          payment.finalStatus === "failed" &&
          !mayStayProcessing(payment)
        );
      }),

    assertLink: (
      order: Order,
      linkResponse: LinkResponse,
      listedPayments: readonly ListedPayment[],
      { isRescanned, now }: { isRescanned: boolean; now: Date },
    ): void => {
      const linkName = describeLink(order);
      const events = [...(linkEvents.get(order.linkId ?? "")?.values() ?? [])].toSorted(
        (a, b) => a.link.version - b.link.version,
      );
      const state = { received: new Decimal(0), usage: 0, isCompleted: false, isInactive: false };
      const applied = new Set<Payment>();
      const unapplied = new Set<Payment>();
      const isReasonValid = (payment: Payment, reason: string | null | undefined): boolean =>
        reason === payment.flaw ||
        (payment.flaw === undefined &&
          ((reason === "completed" && state.isCompleted) ||
            (reason === "expired" && isAfterExpiry(payment)) ||
            (reason === "inactive" && state.isInactive)));
      for (const [index, { type, link, transaction }] of events.entries()) {
        assertInvariant(
          link.version === index + 1,
          () => `${linkName}: version ${index + 1} was never published`,
        );
        if (type === succeededType) {
          assertInvariant(
            transaction !== undefined,
            () => `${linkName}: ${type} without a payment`,
          );
          const payment = findPayment(transaction, order.linkId);
          assertInvariant(
            !applied.has(payment),
            () => `${linkName}: payment ${payment.number} was applied twice`,
          );
          assertInvariant(
            payment.finalStatus === "settled",
            () =>
              `${linkName}: payment ${payment.number} was applied, but is ${payment.finalStatus}`,
          );
          assertInvariant(
            payment.flaw === undefined,
            () => `${linkName}: payment ${payment.number} was applied despite ${payment.flaw}`,
          );
          assertInvariant(
            !isAfterExpiry(payment) || payment.isMovedToLaterBlock || isSentBeforeExpiry(payment),
            () => `${linkName}: payment ${payment.number} was applied after the expiry`,
          );
          assertInvariant(
            !state.isCompleted,
            () => `${linkName}: a payment was applied to a completed link`,
          );
          assertInvariant(
            !state.isInactive,
            () => `${linkName}: a payment was applied to a deactivated link`,
          );
          applied.add(payment);
          state.received = state.received.plus(payment.amount);
          state.usage += 1;
          state.isCompleted =
            state.received.greaterThanOrEqualTo(order.toAmount) ||
            (order.maxUsage !== null && state.usage >= order.maxUsage);
          const nextEvent = events[index + 1];
          assertInvariant(
            !state.isCompleted || nextEvent?.type === completedType,
            () => `${linkName}: is paid, but its completion was not published`,
          );
        } else if (type === unappliedType) {
          assertInvariant(
            transaction?.reason !== undefined,
            () => `${linkName}: ${type} without a payment or a reason`,
          );
          const payment = findPayment(transaction, order.linkId);
          assertInvariant(
            payment.finalStatus === "settled",
            () => `${linkName}: payment ${payment.number} was reported as settled, but is not`,
          );
          assertInvariant(
            !applied.has(payment) && !unapplied.has(payment),
            () =>
              `${linkName}: payment ${payment.number} was reported as unapplied too late or twice`,
          );
          assertInvariant(
            isReasonValid(payment, transaction.reason),
            () =>
              `${linkName}: payment ${payment.number} was reported as unapplied for a wrong reason: ${transaction.reason}`,
          );
          unapplied.add(payment);
        } else if (type === completedType) {
          assertInvariant(
            state.isCompleted && events[index - 1]?.type === succeededType,
            () => `${linkName}: unexpected ${type}`,
          );
        } else if (type === "payment_link.deactivated") {
          assertInvariant(
            order.isDeactivationRequested,
            () => `${linkName}: was deactivated without a request`,
          );
          assertInvariant(
            !state.isCompleted,
            () => `${linkName}: a completed link was deactivated`,
          );
          state.isInactive = true;
        } else {
          assertInvariant(
            type === "payment_link.created" && index === 0,
            () => `${linkName}: unexpected ${type}`,
          );
        }
        assertInvariant(
          state.received.equals(link.receivedAmount) && state.usage === link.currentUsage,
          () =>
            `${linkName}: version ${link.version} shows ${link.receivedAmount} in ${link.currentUsage}, ` +
            `not ${state.received.toFixed()} in ${state.usage}`,
        );
      }
      assertInvariant(events.length > 0, () => `${linkName}: its creation was never published`);
      if (order.isDeactivated)
        assertInvariant(state.isInactive, () => `${linkName}: its deactivation was not published`);
      const hasExpired = order.expiresAt !== null && order.expiresAt <= now;
      const status = state.isCompleted
        ? "completed"
        : state.isInactive || hasExpired
          ? "inactive"
          : "active";
      assertInvariant(
        linkResponse.status === status && state.received.equals(linkResponse.receivedAmount),
        () =>
          `${linkName}: is shown as ${linkResponse.status} with ${linkResponse.receivedAmount}, not ${status}`,
      );

      const finalPayments = payments.filter(
        (candidate) => candidate.order === order && candidate.isFinal,
      );
      for (const payment of finalPayments) {
        const reports = listedPayments.filter((listedPayment) =>
          matchesIdentity(payment, listedPayment),
        );
        // After a notice has reported the payment as settled, the chain can report that it failed,
        // or its final status can stay unknown.
        const mayDiffer = payment.isDoubtful && payment.isAlsoReportedByProvider;
        const isDifferent = ({ status }: ListedPayment): boolean =>
          status === "failed" || (status === "processing" && mayStayProcessing(payment));
        const primaryReports = reports.filter(
          (report) => !isDuplicateReason(report.reason) && !(mayDiffer && isDifferent(report)),
        );
        assertInvariant(
          reports.filter(({ reason }) => isDuplicateReason(reason)).length <=
            (payment.isAlsoReportedByProvider ? 1 : 0),
          () => `${linkName}: payment ${payment.number} is listed as a duplicate`,
        );
        if (payment.isDoubtful && primaryReports.length < 2) continue;
        const isMissing = primaryReports.length < 2 && primaryReports.every(mayBeForgotten);
        if (!isRescanned && isMissing && mayBeMissed(payment)) continue;
        assertInvariant(
          primaryReports.length === 1,
          () => `${linkName}: payment ${payment.number} is listed ${primaryReports.length} times`,
        );
        const [primaryReport] = primaryReports;
        assertInvariant(
          primaryReport?.status === payment.finalStatus,
          () =>
            `${linkName}: payment ${payment.number} is listed as ${primaryReport?.status}, not ${payment.finalStatus}`,
        );
        assertInvariant(
          primaryReport.applied === applied.has(payment),
          () =>
            `${linkName}: payment ${payment.number} is listed as applied: ${primaryReport.applied}`,
        );
        if (payment.finalStatus !== "settled" || applied.has(payment)) continue;
        assertInvariant(
          isReasonValid(payment, primaryReport.reason),
          () =>
            `${linkName}: payment ${payment.number} was not applied for a wrong reason: ${primaryReport.reason}`,
        );
        assertInvariant(
          unapplied.has(payment),
          () => `${linkName}: it was not published that payment ${payment.number} is not applied`,
        );
      }
      for (const listedPayment of listedPayments) {
        const { status } = listedPayment;
        const payment = findPayment(listedPayment, order.linkId);
        assertInvariant(
          payment.isFinal ||
            (status === "failed" && payment.finalStatus === "failed") ||
            (status === "processing" && mayStayProcessing(payment)),
          () =>
            `${linkName}: payment ${payment.number} is listed as ${status}, but never became final`,
        );
        const isListedAsUnconfirmed =
          publishesUnconfirmed && status === "processing" && listedPayment.orphaned !== true;
        assertInvariant(
          !isListedAsUnconfirmed || payment.isFinal || restoredServices.has("settlement-listener"),
          () =>
            `${linkName}: payment ${payment.number} never became final, but is not listed as orphaned`,
        );
      }

      const webhookEvents = events.filter(({ type }) =>
        [succeededType, unappliedType, completedType].includes(type),
      );
      for (const endpoint of endpoints.filter(({ account }) => account === order.account)) {
        const receivedWebhooks = [...webhooks.values()].filter(
          (webhook) => webhook.endpoint === endpoint && webhook.linkId === order.linkId,
        );
        for (const { id, type, transaction } of webhookEvents) {
          const transactionIdentity = type === completedType ? undefined : transaction;
          const isReceived = receivedWebhooks.some(
            ({ isDelivered, payment, type: receivedType }) =>
              isDelivered &&
              receivedType === type &&
              (transactionIdentity === undefined
                ? payment === undefined
                : payment === findPayment(transactionIdentity, order.linkId)),
          );
          assertInvariant(
            isReceived || lostEventIds.has(id),
            () =>
              `${linkName}: endpoint ${endpoint.number} never received ${type} ${formatIdentity(transactionIdentity)}`,
          );
        }
        assertInvariant(
          receivedWebhooks.length <= webhookEvents.length,
          () =>
            `${linkName}: endpoint ${endpoint.number} received ${receivedWebhooks.length} webhooks instead of ${webhookEvents.length}`,
        );
      }
    },
  };
};

export type Model = ReturnType<typeof createModel>;

/** Returns true if a report is about a transfer that was already reported (rule STATE-14). */
const isDuplicateReason = (reason: string | null): boolean =>
  reason === "duplicate" || reason === "conflict";

const isAfterExpiry = ({ occurredAt, order }: Payment): boolean =>
  order.expiresAt !== null && occurredAt >= order.expiresAt;

/**
 * A quorum can have detected the payment before the expiration, although its block came later (rule
 * STATE-15).
 */
const isSentBeforeExpiry = ({ order, sentAt }: Payment): boolean =>
  order.expiresAt !== null && sentAt < order.expiresAt;

type SettlementData = PaymentIdentity & {
  id: string;
  paymentLinkId: string;
  version: number;
  source: string;
  status: string;
  blockNumber?: number | null;
  isOrphaned?: boolean;
};

export type WebhookBody = {
  id: string;
  type: string;
  data: {
    paymentLinkId: string;
    receivedAmount: string;
    currentUsage: number;
    status: string;
    transaction?: { sourceTransaction: string; amount: string; reason?: string };
  };
};

export type LinkResponse = { status: string; receivedAmount: string };

/** An account's overview as the console shows it. */
export type OverviewResponse = {
  received: readonly { amount: string; paymentCount: number }[];
  unapplied: { count: number };
};

export type ListedPayment = {
  status: string;
  applied: boolean;
  reason: string | null;
  amount: string;
  sourceTransaction: string;
  orphaned?: boolean;
};
