import type { OutgoingRecord } from "@payment-links/bus";
import { Decimal } from "@payment-links/contracts";
import { createDepositModel } from "./deposit-model.ts";
import { hold } from "./finding.ts";
import {
  type EarlyMoney,
  type Money,
  type Named,
  type Order,
  type Payment,
  isOf,
  nameOf,
} from "./money.ts";

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
    | { id: string; sourceTransaction: string; amount: string; status: string }
    | undefined;
};

type Webhook = {
  endpoint: Endpoint;
  deliveryId: string;
  type: string;
  linkId: string;
  /** The payment of which it tells; undefined for a completed link. */
  payment: Payment | undefined;
  isDelivered: boolean;
};

const succeeded = "payment_link.transaction.succeeded";
const completed = "payment_link.completed";

/**
 * What is true, and what the system has said of it so far. `isPlaceTold` says whether payments are told
 * before a block holds them.
 */
export const createModel = ({
  count,
  isPlaceTold,
}: {
  count: (what: string) => void;
  isPlaceTold: boolean;
}) => {
  const orders: Order[] = [];
  const payments: Payment[] = [];
  const early: EarlyMoney[] = [];
  const endpoints: Endpoint[] = [];
  const linkEvents = new Map<string, Map<string, LinkEvent>>();
  const settlements = new Map<string, SettlementData>();
  const restored = new Set<string>();
  const lostIds = new Set<string>();
  const unknownNonces = new Set<string>();
  /** Of which the first that was told is that they wait to be mined. */
  const foreseen = new Set<string>();
  /** By payment and source: a notice has its own id. */
  const settlementIds = new Map<string, string>();
  const heardIds = new Set<string>();
  const webhooks = new Map<string, Webhook>();

  const orderOf = (linkId: string): Order => {
    const order = orders.find((one) => one.linkId === linkId);
    hold(order !== undefined, () => "a link is told of that nobody ordered");
    return order;
  };

  /**
   * Money that came to an address before its link: it may be a payment of the link, unless the listener knew
   * it before (rule CHAIN-28).
   */
  const findEarly = (told: Named, linkId: string | undefined): Payment | undefined => {
    const found = early.find(({ money }) => isOf(money, told));
    const order = orders.find((one) => one.linkId === linkId);
    if (found === undefined || order === undefined) return undefined;
    const { address, money } = found;
    if (order.olderHashes.has(money.hash) || address !== (order.reference ?? address)) {
      return undefined;
    }
    const payment = Object.assign(money, { order, flaw: undefined, isDoubtful: true });
    payments.push(payment);
    count("early money that pays a link");
    return payment;
  };

  /** A payment as it is told of a link. */
  const paymentOf = (told: Named, linkId: string | undefined): Payment => {
    const payment =
      payments.find((one) => isOf(one, told) && one.order.linkId === linkId) ??
      findEarly(told, linkId);
    hold(payment !== undefined, () => `a payment is told of that nobody made: ${nameOf(told)}`);
    return payment;
  };

  /**
   * Whether nobody can tell any more that a payment has failed: it was never made, its chain took it
   * away before two nodes had told its nonce, nobody saw on what it depends while it waited, or whoever
   * saw it was restored to before that.
   */
  const mayStayOpen = (money: Money): boolean =>
    money.isForged ||
    isUnproved(money) ||
    unknownNonces.has(money.hash) ||
    restored.has("settlement-listener");

  const isUnproved = ({ hash, isOrphan, isUndecidable }: Money): boolean =>
    isUndecidable || (isOrphan && !foreseen.has(hash));

  /**
   * Whether the first look may have missed a payment, so that it is found once all is read again: a node had
   * forgotten its block and did not say so, or whoever saw it was restored to before that.
   */
  const mayBeMissed = (payment: Payment): boolean =>
    payment.isLeftOut || (isPlaceTold && payment.isOnChain && restored.has("settlement-listener"));

  /** Whether a payment was told as waiting, and whoever told it may have been restored to before that. */
  const isForgotten = (listed: ShownPayment): boolean =>
    listed.status === "processing" && restored.has("settlement-listener");

  const tell = (order: Order): string => `link ${order.number}`;

  const deposits = createDepositModel({
    orders,
    payments,
    mayStayOpen,
    isListenerRestored: () => restored.has("settlement-listener"),
  });

  const hearLinkEvent = (event: LinkEvent): void => {
    const known = linkEvents.get(event.link.id) ?? new Map<string, LinkEvent>();
    linkEvents.set(event.link.id, known);
    const twin = [...known.values()].find((one) => one.link.version === event.link.version);
    hold(
      twin === undefined,
      () =>
        `two events of one link have version ${event.link.version}: ${twin?.type}, ${event.type}`,
    );
    const newest = Math.max(0, ...[...known.values()].map(({ link }) => link.version));
    hold(
      event.link.version > newest,
      () => `version ${event.link.version} of a link is told after ${newest}`,
    );
    known.set(event.id, event);
    if (event.transaction !== undefined) deposits.credited(event.transaction, event.link.id);
  };

  const hearSettlement = (data: SettlementData): void => {
    const payment = paymentOf(data, data.paymentLinkId);
    const before = settlements.get(data.id);
    const isAgain = data.version === before?.version && data.status === before.status;
    hold(
      isAgain || data.version > (before?.version ?? 0) || restored.has("settlement-listener"),
      () => `payment ${payment.number}: version ${data.version} after ${before?.version}`,
    );
    settlements.set(data.id, data);
    const isNotice = data.source.startsWith("provider:");
    hold(
      isNotice ? payment.isRepeated || !payment.isOnChain : payment.isOnChain,
      () => `payment ${payment.number} is told by ${data.source}`,
    );
    if (before === undefined && data.blockNumber === null && !isNotice) foreseen.add(payment.hash);
    if (isPlaceTold && data.status === "processing" && payment.isOnChain) {
      const isTakenBack = data.isOrphaned === true;
      if (isTakenBack) count("payments taken back");
      else count(data.blockNumber === null ? "payments foreseen" : "payments seen in a block");
    }
    const name = `${payment.number} ${data.source}`;
    const id = settlementIds.get(name) ?? data.id;
    hold(id === data.id, () => `payment ${payment.number} is told under two ids`);
    settlementIds.set(name, data.id);
    hold(
      data.status !== "failed" || payment.end === "failed" || payment.isDoubtful,
      () => `payment ${payment.number} is told as failed, and is not`,
    );
    hold(
      data.status !== "settled" || (payment.end === "settled" && payment.isEndTold),
      () => `payment ${payment.number} is told as settled, and is not`,
    );
  };

  /** A webhook shows its link at some moment after its event. */
  const holdState = ({ data, type }: WebhookBody): void => {
    const events = [...(linkEvents.get(data.paymentLinkId)?.values() ?? [])];
    const own = events.find(
      (one) => one.type === type && nameOf(one.transaction) === nameOf(data.transaction),
    );
    hold(own !== undefined, () => `a webhook ${type} comes before its event`);
    const isTold = events.some(
      ({ link }) =>
        link.version >= own.link.version &&
        link.receivedAmount === data.receivedAmount &&
        link.currentUsage === data.currentUsage,
    );
    hold(isTold, () => `a webhook ${type} shows an older state: ${data.receivedAmount}`);
  };

  return {
    orders,
    payments,
    early,
    endpoints,
    deposits,
    /** A service goes on from an older state of its database. */
    restored: (service: string): void => {
      restored.add(service);
    },
    /** A transaction was taken away before two nodes had told its nonce (rule CHAIN-5). */
    hasNoNonce: (hash: string): void => {
      unknownNonces.add(hash);
    },
    /** The broker has forgotten a record, which not everybody may have heard. */
    lost: ({ headers }: Pick<OutgoingRecord, "headers">): void => {
      lostIds.add(headers["ce_id"] ?? "");
    },

    /** A record was kept by the bus for good. */
    heard: ({ topic, headers, value }: OutgoingRecord): void => {
      const id = headers["ce_id"] ?? "";
      if (heardIds.has(id)) return;
      heardIds.add(id);
      const type = headers["ce_type"] ?? "";
      hold(!topic.endsWith(".dead-letter"), () => `a record is parked: ${value.slice(0, 400)}`);
      // How far a chain is, is no state of a payment.
      const isPayment = type !== "settlement.chain_advanced";
      if (type.startsWith("deposit.")) deposits.hear(type, JSON.parse(value));
      else if (topic === "settlements.v1" && isPayment) hearSettlement(JSON.parse(value));
      // What begins otherwise is the bus' own.
      if (!type.startsWith("payment_link.") || type.endsWith(".snapshot")) return;
      const { link, transaction } = JSON.parse(value);
      hearLinkEvent({ id, type, link, transaction });
    },

    /** A webhook arrives: it must be due, and the same as before if it comes again. */
    receive: (endpoint: Endpoint, deliveryId: string, body: WebhookBody): Webhook => {
      const { data, type } = body;
      const order = orderOf(data.paymentLinkId);
      hold(body.id === deliveryId, () => "a webhook's header and body differ in their id");
      hold(order.account === endpoint.account, () => "a webhook goes to another account");
      const payment = data.transaction && paymentOf(data.transaction, data.paymentLinkId);
      hold((type === succeeded) === (payment !== undefined), () => `a webhook ${type}`);
      if (payment !== undefined) {
        hold(
          payment.order === order && payment.end === "settled" && payment.isEndTold,
          () => `a webhook tells of payment ${payment.number}, which is not paid`,
        );
      }
      const paid = payments
        .filter((one) => one.order === order && one.end === "settled" && one.isEndTold)
        .reduce((sum, one) => sum.plus(one.amount), new Decimal(0));
      hold(
        paid.greaterThanOrEqualTo(data.receivedAmount),
        () =>
          `a webhook says that ${tell(order)} received ${data.receivedAmount} of ${paid.toFixed()}`,
      );
      const known = webhooks.get(deliveryId);
      const webhook: Webhook = known ?? {
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
      hold(isSame, () => "a delivery id is used for two webhooks");
      const twin = [...webhooks.values()].find(
        (other) =>
          other.deliveryId !== deliveryId &&
          other.endpoint === endpoint &&
          other.type === type &&
          other.linkId === data.paymentLinkId &&
          other.payment === payment,
      );
      hold(twin === undefined, () => `a webhook comes under two delivery ids: ${type}`);
      holdState(body);
      webhooks.set(deliveryId, webhook);
      return webhook;
    },

    /** Once all is quiet: replays each link's events, and holds all that was said against what is true. */
    /** What an account's overview adds up is what its payments come to. */
    holdOverview: (
      { received, unapplied }: ShownOverview,
      listed: readonly ShownPayment[],
    ): void => {
      const sum = (amounts: readonly string[]) =>
        amounts.reduce((total, amount) => total.plus(amount), new Decimal(0)).toFixed();
      const applied = listed.filter((payment) => payment.applied);
      const settled = listed.filter(
        ({ reason, status }) => status === "settled" && reason !== "duplicate",
      );
      const comesTo = `${sum(applied.map(({ amount }) => amount))} in ${applied.length}`;
      const paymentCount = received.reduce((total, one) => total + one.paymentCount, 0);
      const shown = `${sum(received.map(({ amount }) => amount))} in ${paymentCount}`;
      hold(shown === comesTo, () => `an overview shows ${shown}, and it is ${comesTo}`);
      hold(
        unapplied.count === settled.length - applied.length,
        () =>
          `an overview shows ${unapplied.count} of ${settled.length - applied.length} unapplied`,
      );
    },

    /** Whether an operator must have all blocks read again. */
    mayLackAny: (): boolean => payments.some((one) => one.isEndTold && mayBeMissed(one)),

    /** Whether a payment was told, has failed, and nobody has told that, who could: older blocks are yet to be read. */
    lacksFailures: (): boolean =>
      [...settlements.values()].some((data) => {
        const payment = paymentOf(data, data.paymentLinkId);
        return data.status === "processing" && payment.end === "failed" && !mayStayOpen(payment);
      }),

    holdLink: (
      order: Order,
      shown: ShownLink,
      listed: readonly ShownPayment[],
      { isReadAgain, now }: { isReadAgain: boolean; now: Date },
    ): void => {
      const name = tell(order);
      const events = [...(linkEvents.get(order.linkId ?? "")?.values() ?? [])].toSorted(
        (a, b) => a.link.version - b.link.version,
      );
      const state = { received: new Decimal(0), usage: 0, isCompleted: false, isInactive: false };
      const applied = new Set<Payment>();
      for (const [index, { type, link, transaction }] of events.entries()) {
        hold(link.version === index + 1, () => `${name}: version ${index + 1} was never told`);
        if (type === succeeded) {
          hold(transaction !== undefined, () => `${name}: ${type} without a payment`);
          const payment = paymentOf(transaction, order.linkId);
          hold(!applied.has(payment), () => `${name}: payment ${payment.number} counts twice`);
          hold(
            payment.end === "settled",
            () => `${name}: payment ${payment.number} counts, and came to nothing`,
          );
          hold(payment.flaw === undefined, () => `${name}: payment ${payment.number} has a flaw`);
          hold(
            !isLate(payment) || payment.isMoved || isSentInTime(payment),
            () => `${name}: payment ${payment.number} came after the expiry`,
          );
          hold(!state.isCompleted, () => `${name}: a payment counts on a completed link`);
          hold(!state.isInactive, () => `${name}: a payment counts on a deactivated link`);
          applied.add(payment);
          state.received = state.received.plus(payment.amount);
          state.usage += 1;
          state.isCompleted =
            state.received.greaterThanOrEqualTo(order.toAmount) ||
            (order.maxUsage !== null && state.usage >= order.maxUsage);
          const next = events[index + 1];
          hold(
            !state.isCompleted || next?.type === completed,
            () => `${name}: is paid, and is not told as completed`,
          );
        } else if (type === completed) {
          hold(
            state.isCompleted && events[index - 1]?.type === succeeded,
            () => `${name}: ${type}`,
          );
        } else if (type === "payment_link.deactivated") {
          hold(order.isDeactivationAsked, () => `${name}: is deactivated, and nobody asked`);
          hold(!state.isCompleted, () => `${name}: a completed link is deactivated`);
          state.isInactive = true;
        } else {
          hold(type === "payment_link.created" && index === 0, () => `${name}: ${type}`);
        }
        hold(
          state.received.equals(link.receivedAmount) && state.usage === link.currentUsage,
          () =>
            `${name}: version ${link.version} says ${link.receivedAmount} in ${link.currentUsage}, ` +
            `not ${state.received.toFixed()} in ${state.usage}`,
        );
      }
      hold(events.length > 0, () => `${name}: its creation was never told`);
      if (order.isDeactivated)
        hold(state.isInactive, () => `${name}: its deactivation was not told`);
      const hasExpired = order.expiresAt !== null && order.expiresAt <= now;
      const status = state.isCompleted
        ? "completed"
        : state.isInactive || hasExpired
          ? "inactive"
          : "active";
      hold(
        shown.status === status && state.received.equals(shown.receivedAmount),
        () => `${name}: is shown as ${shown.status} with ${shown.receivedAmount}, not ${status}`,
      );

      const due = payments.filter((one) => one.order === order && one.isEndTold);
      for (const payment of due) {
        const reports = listed.filter((one) => isOf(payment, one));
        // After a notice said that it settled, the chain may say that it failed, or never learn its end.
        const mayDiffer = payment.isDoubtful && payment.isRepeated;
        const isDifferent = ({ status }: ShownPayment): boolean =>
          status === "failed" || (status === "processing" && mayStayOpen(payment));
        const all = reports.filter(
          (report) => !isRepeat(report.reason) && !(mayDiffer && isDifferent(report)),
        );
        hold(
          reports.filter(({ reason }) => isRepeat(reason)).length <= (payment.isRepeated ? 1 : 0),
          () => `${name}: payment ${payment.number} is listed as repeated`,
        );
        if (payment.isDoubtful && all.length < 2) continue;
        const isMissed = all.length < 2 && all.every(isForgotten);
        if (!isReadAgain && isMissed && mayBeMissed(payment)) continue;
        hold(
          all.length === 1,
          () => `${name}: payment ${payment.number} is listed ${all.length} times`,
        );
        const [one] = all;
        hold(
          one?.status === payment.end,
          () => `${name}: payment ${payment.number} is ${one?.status}`,
        );
        hold(
          one.applied === applied.has(payment),
          () => `${name}: payment ${payment.number} is listed as applied: ${one.applied}`,
        );
        if (payment.end !== "settled" || applied.has(payment)) continue;
        const isReasonGood =
          one.reason === payment.flaw ||
          (payment.flaw === undefined &&
            ((one.reason === "completed" && state.isCompleted) ||
              (one.reason === "expired" && isLate(payment)) ||
              (one.reason === "inactive" && state.isInactive)));
        hold(
          isReasonGood,
          () => `${name}: payment ${payment.number} does not count: ${one.reason}`,
        );
      }
      for (const one of listed) {
        const { status } = one;
        const payment = paymentOf(one, order.linkId);
        hold(
          payment.isEndTold ||
            (status === "failed" && payment.end === "failed") ||
            (status === "processing" && mayStayOpen(payment)),
          () => `${name}: payment ${payment.number} is listed as ${status}, and came to nothing`,
        );
        const isShownAsWaiting = isPlaceTold && status === "processing" && one.orphaned !== true;
        hold(
          !isShownAsWaiting || payment.isEndTold || restored.has("settlement-listener"),
          () => `${name}: payment ${payment.number} came to nothing, and is not taken back`,
        );
      }

      const webhookEvents = events.filter(({ type }) => type === succeeded || type === completed);
      for (const endpoint of endpoints.filter(({ account }) => account === order.account)) {
        const got = [...webhooks.values()].filter(
          (one) => one.endpoint === endpoint && one.linkId === order.linkId,
        );
        for (const { id, type, transaction } of webhookEvents) {
          const told = type === succeeded ? transaction : undefined;
          const isGot = got.some(
            ({ isDelivered, payment, type: gotType }) =>
              isDelivered &&
              gotType === type &&
              (told === undefined
                ? payment === undefined
                : payment === paymentOf(told, order.linkId)),
          );
          hold(
            isGot || lostIds.has(id),
            () => `${name}: endpoint ${endpoint.number} never got ${type} ${nameOf(told)}`,
          );
        }
        hold(
          got.length <= webhookEvents.length,
          () => `${name}: endpoint ${endpoint.number} got ${got.length} of ${webhookEvents.length}`,
        );
      }
    },
  };
};

export type Model = ReturnType<typeof createModel>;

/** Whether a report is of a transfer that was reported before (rule STATE-14). */
const isRepeat = (reason: string | null): boolean =>
  reason === "duplicate" || reason === "conflict";

const isLate = ({ occurredAt, order }: Payment): boolean =>
  order.expiresAt !== null && occurredAt >= order.expiresAt;

/** A quorum may have seen it before the expiry, although its block came afterwards (rule STATE-15). */
const isSentInTime = ({ order, sentAt }: Payment): boolean =>
  order.expiresAt !== null && sentAt < order.expiresAt;

type SettlementData = Named & {
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
    transaction?: { sourceTransaction: string; amount: string };
  };
};

export type ShownLink = { status: string; receivedAmount: string };

/** An account's overview as the console shows it. */
export type ShownOverview = {
  received: readonly { amount: string; paymentCount: number }[];
  unapplied: { count: number };
};

export type ShownPayment = {
  status: string;
  applied: boolean;
  reason: string | null;
  amount: string;
  sourceTransaction: string;
  orphaned?: boolean;
};
