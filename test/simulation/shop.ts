import { createHmac } from "node:crypto";
import {
  type Account,
  type IntrospectionAnswer,
  hashSecret,
  mintApiKey,
  newId,
  scopes,
} from "@payment-links/contracts";
import { sampleAccount } from "@payment-links/contracts/testing/sample-account";
import {
  type Chain,
  type Transaction,
  chainId,
  eurc,
  proxyLog,
  transferLog,
  usdc,
} from "./chain.ts";
import { Finding, hold } from "./finding.ts";
import type { Received, Sent } from "./inject-request.ts";
import type { Endpoint, Flaw, Model, Order, Payment, WebhookBody } from "./model.ts";
import type { ServiceName } from "./replica.ts";
import type { Strangers } from "./seams.ts";
import type { World } from "./world.ts";

/** Something that somebody outside wants of a service, again and again until it is answered. */
export type Errand = {
  what: string;
  service: ServiceName;
  isInternal?: boolean;
  underWay: number;
  /** Not tried again before that. */
  notBeforeMs: number;
  send: () => Sent;
  /** Whether the answer ends it. */
  answered: (answer: Received) => boolean;
};

export type AccountRow = { account: Account; key: string; session: string };

const token = {
  id: "usdc-base",
  chainId,
  address: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
};
const wallets = [
  "0x52908400098527886E0F7030069857D2E4169EE7",
  "0x8617E340B3D01FA5F11F306F4090FD50E238070D",
];
const unitsPerToken = 1_000_000;
const payers = ["1", "2", "3"].map((digit) => `0x${digit.repeat(40)}`);
const otherWallet = "0xde709f2102306220921060314715629080e2fb77";
const accountCount = 2;
const failuresMax = 2;

/** The provider of notices, and its secret. */
export const acme = { name: "acme", secret: "whsec_c2V0dGxlbWVudC1ub3RpY2VzLXRlc3Q=" };

export const hostsOfReceivers = ["a1", "a2", "b1"].map((name) => `${name}.shop.example`);

const newAccount = (number: number): AccountRow => ({
  key: mintApiKey("test"),
  session: newId("sess"),
  account: sampleAccount({
    handle: `shop${number}`,
    username: "A Shop",
    wallets: [
      {
        id: newId("wallet"),
        walletAddress: wallets[number] ?? "",
        tokenId: token.id,
        chainType: "EVM",
        isDefault: true,
        isChainDefault: true,
        provider: null,
      },
    ],
  }),
});

/** All who are outside: shops, their payers, a payment provider, and the receivers of webhooks. */
export const openShop = (world: World, model: Model, chain: Chain) => {
  const { random } = world;
  const errands: Errand[] = [];
  const accounts = Array.from({ length: accountCount }, (_, number) => newAccount(number));
  const failures = new Map<string, number>();
  let isCalm = false;
  let orderCount = 0;
  const answers = new Map<string, IntrospectionAnswer>();
  for (const { account, key, session } of accounts) {
    const credential = {
      id: newId("key"),
      bucketId: newId("key"),
      scopes: [...scopes],
      expiresAt: null,
      // Its people are there all the time.
      presence: { provenAt: new Date(8.64e15), methods: [] },
    };
    for (const [kind, secret] of [
      ["api-key", key],
      ["session", session],
    ] as const) {
      answers.set(`${kind} ${hashSecret(secret).toString("hex")}`, {
        found: true,
        account,
        credential,
      });
    }
  }
  const accountOf = (number: number): AccountRow => {
    const found = accounts[number];
    if (found === undefined) throw new RangeError("no such account");
    return found;
  };
  const cookieOf = (account: number) => ({ cookie: `session=${accountOf(account).session}` });

  const ask = (errand: Omit<Errand, "underWay" | "notBeforeMs">): void => {
    errands.push({ ...errand, underWay: 0, notBeforeMs: 0 });
  };

  const placeOrder = (): void => {
    orderCount += 1;
    const number = orderCount;
    const expiresInMs = 1_000 * (5 + random.below(60));
    const order: Order = {
      number,
      account: random.below(accountCount),
      toAmount: 1 + random.below(20),
      maxUsage: random.chance(0.3) ? 1 + random.below(3) : null,
      expiresAt: random.chance(0.2) ? new Date(world.nowMs() + expiresInMs) : null,
      linkId: undefined,
      isDeactivationAsked: false,
      isDeactivated: false,
      reference: undefined,
    };
    model.orders.push(order);
    const body = JSON.stringify({
      toAmount: String(order.toAmount),
      description: `Order ${number}`,
      ...(order.maxUsage === null ? {} : { maxUsage: order.maxUsage }),
      ...(order.expiresAt === null ? {} : { expirationDate: order.expiresAt.toISOString() }),
    });
    ask({
      what: `order ${number}`,
      service: "links-api",
      send: () => ({
        method: "POST",
        path: "/v1/payment-link",
        headers: {
          "x-api-key": accountOf(order.account).key,
          "idempotency-key": `order-${number}`,
        },
        body,
      }),
      answered: ({ status, text }) => {
        // The expiry has passed before it was ever stored.
        if (status === 422 && order.expiresAt !== null) {
          model.orders.splice(model.orders.indexOf(order), 1);
          return true;
        }
        if (text.includes("IDEMPOTENCY_KEY_IN_USE")) return false;
        if (status !== 200) return isUnanswered(status, text, "an order");
        const { id } = JSON.parse(text);
        hold(
          order.linkId === undefined || order.linkId === id,
          () => `order ${number} became two links`,
        );
        order.linkId = id;
        readCheckout(order);
        return true;
      },
    });
  };

  const readCheckout = (order: Order): void =>
    ask({
      what: `checkout ${order.number}`,
      service: "links-api",
      send: () => ({ method: "GET", path: `/checkout/payment-links/${order.linkId}` }),
      answered: ({ status, text }) => {
        if (status !== 200) return isUnanswered(status, text, "a checkout");
        const { instructions } = JSON.parse(text) as {
          instructions: { paymentReference: string } | null;
        };
        order.reference = instructions?.paymentReference;
        // Some payers wait for nothing: their payment is there before everybody has heard of the link.
        if (order.reference !== undefined && random.chance(0.5)) {
          for (let paid = random.below(3); paid >= 0; paid -= 1) payOnChain(order, order.reference);
        }
        return true;
      },
    });

  const payOnChain = (order: Order, reference: string): void => {
    const from = random.pick(payers);
    const units = (1 + random.below(12)) * (unitsPerToken / 2);
    const to = wallets[order.account] ?? "";
    const trick = random.below(12);
    if (trick === 0) {
      world.count("decoys on chain");
      // The proxy's event alone, and a payment in a transaction that fails.
      const logs = [proxyLog({ token: usdc, to, units, reference })];
      chain.send(from, { isSuccessful: true, logs });
      chain.send(from, {
        isSuccessful: false,
        logs: [transferLog({ token: usdc, to, units }), ...logs],
      });
      return;
    }
    const flaws: readonly (Flaw | undefined)[] = [undefined, "wrong_token", "wrong_destination"];
    const flaw = flaws[trick];
    const paid = {
      token: flaw === "wrong_token" ? eurc : usdc,
      to: flaw === "wrong_destination" ? otherWallet : to,
      units,
    };
    const payment: Payment = {
      number: model.payments.length + 1,
      order,
      amount: String(units / unitsPerToken),
      flaw,
      occurredAt: world.now(),
      hash: "",
      end: "settled",
      isEndTold: false,
      isOnChain: true,
      isDoubtful: false,
      isMoved: false,
      isForged: false,
    };
    const logs = [transferLog(paid), proxyLog({ ...paid, reference })];
    payment.hash = chain.send(from, { isSuccessful: true, logs, payment }).hash;
    model.payments.push(payment);
    world.count("payments on chain");
  };

  const tellNotice = (payment: Payment, status: "processing" | Payment["end"]): void => {
    const { flaw, number, order } = payment;
    ask({
      what: `notice ${number} ${status}`,
      service: "settlement-listener",
      send: () => {
        if (status !== "processing") payment.isEndTold = true;
        const body = JSON.stringify({
          id: `payment-${number}`,
          paymentLinkId: order.linkId,
          status,
          amount: payment.amount,
          chainId: flaw === "wrong_token" ? "1" : token.chainId,
          tokenAddress: token.address,
          destinationAddress:
            flaw === "wrong_destination" ? otherWallet : (wallets[order.account] ?? ""),
          sourceTransaction: payment.hash,
          occurredAt: payment.occurredAt.toISOString(),
        });
        const id = `msg_${number}_${status}`;
        return {
          method: "POST",
          path: `/settlement-notices/${acme.name}`,
          headers: {
            "webhook-id": id,
            "webhook-timestamp": String(Math.floor(world.nowMs() / 1000)),
            "webhook-signature": signNotice(id, world.nowMs(), body),
          },
          body,
        };
      },
      answered: ({ status: answer, text }) =>
        answer === 202 || isUnanswered(answer, text, "a notice"),
    });
  };

  const pay = (order: Order, { byNotice }: { byNotice: boolean }): void => {
    if (order.reference !== undefined && (!byNotice || random.chance(0.5))) {
      payOnChain(order, order.reference);
      return;
    }
    if (!byNotice) return;
    const number = model.payments.length + 1;
    const flaws: readonly Flaw[] = ["wrong_token", "wrong_destination"];
    const payment: Payment = {
      number,
      order,
      amount: String(1 + random.below(12) / 2),
      flaw: random.chance(0.1) ? random.pick(flaws) : undefined,
      occurredAt: new Date(world.nowMs() - 1_000 * random.below(10)),
      hash: `0x${String(number).padStart(4, "0")}`,
      end: random.chance(0.85) ? "settled" : "failed",
      isEndTold: false,
      isOnChain: false,
      isDoubtful: false,
      isMoved: false,
      isForged: false,
    };
    model.payments.push(payment);
    if (random.chance(0.4)) tellNotice(payment, "processing");
    tellNotice(payment, payment.end);
    if (random.chance(0.2)) tellNotice(payment, payment.end);
  };

  const deactivate = (order: Order): void => {
    order.isDeactivationAsked = true;
    ask({
      what: `deactivate ${order.number}`,
      service: "links-api",
      send: () => ({
        method: "POST",
        path: `/console/api/payment-links/${order.linkId}/deactivate`,
        headers: cookieOf(order.account),
      }),
      answered: ({ status, text }) => {
        if (status === 200) order.isDeactivated = true;
        return status === 200 || status === 409 || isUnanswered(status, text, "a deactivation");
      },
    });
  };

  /** A transaction that nobody made, which a lying node may tell of. */
  const forge = (): Transaction | undefined => {
    const known = model.orders.filter(({ reference }) => reference !== undefined);
    if (known.length === 0) return undefined;
    const order = random.pick(known);
    const units = 5 * unitsPerToken;
    const paid = { token: usdc, to: wallets[order.account] ?? "", units };
    const logs = [transferLog(paid), proxyLog({ ...paid, reference: order.reference ?? "" })];
    const forged = chain.forge({ isSuccessful: true, logs });
    model.payments.push({
      number: model.payments.length + 1,
      order,
      amount: String(units / unitsPerToken),
      flaw: undefined,
      occurredAt: world.now(),
      hash: forged.hash,
      end: "failed",
      isEndTold: false,
      isOnChain: true,
      isDoubtful: false,
      isMoved: false,
      isForged: true,
    });
    return forged;
  };

  /** What an operator asks of a service by its internal API; an answer below 500 ends it. */
  const order = (
    service: ServiceName,
    { what, path, body, next }: { what: string; path: string; body?: object; next?: () => void },
  ): void => {
    world.count(`operators: ${what.split(" ")[0] ?? ""}`);
    ask({
      what,
      service,
      isInternal: true,
      send: () => ({
        method: "POST",
        path,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
      answered: ({ status }) => {
        if (status >= 500) return false;
        if (status === 202) next?.();
        return true;
      },
    });
  };

  /** Ends once all was told again; then what follows is asked for. */
  const republish = (what: "payment-links" | "settlements", then?: () => void): void => {
    const service = what === "settlements" ? "settlement-listener" : "links-api";
    const path = `/internal/republish/${what}`;
    const watch = () =>
      ask({
        what: `look at republish ${what}`,
        service,
        isInternal: true,
        send: () => ({ method: "GET", path }),
        answered: ({ status, text }) => {
          if (status >= 500) return false;
          // A service that was restored has forgotten that it was asked.
          if (status === 404) {
            republish(what, then);
            return true;
          }
          if (JSON.parse(text).endedAt === null) return false;
          then?.();
          return true;
        },
      });
    order(service, { what: `republish ${what}`, path, next: watch });
  };

  const register = (host: string, index: number): void => {
    const account = host.startsWith("a") ? 0 : 1;
    ask({
      what: `register ${host}`,
      service: "webhook-dispatcher",
      send: () => ({
        method: "POST",
        path: "/console/api/webhook-endpoints",
        headers: cookieOf(account),
        body: JSON.stringify({ url: `https://${host}/hook`, name: host }),
      }),
      answered: ({ status, text }) => {
        hold(status === 201, () => `an endpoint is refused: ${status} ${text}`);
        const { secret } = JSON.parse(text);
        model.endpoints.push({ number: index, account, host, secret });
        return true;
      },
    });
  };

  const receive: Strangers["receive"] = ({ origin, headers, body }) => {
    const endpoint = model.endpoints.find(({ host }) => host === origin);
    hold(endpoint !== undefined, () => `a webhook goes to ${origin}`);
    holdSignature(endpoint, headers, body);
    const id = headers["Service-Event-Id"] ?? "";
    const webhook = model.receive(endpoint, id, JSON.parse(body) as WebhookBody);
    const told = `${webhook.type} ${webhook.payment?.number ?? ""}`;
    world.count("webhooks received");
    const failed = failures.get(id) ?? 0;
    if (!isCalm && failed < failuresMax && random.chance(0.25)) {
      failures.set(id, failed + 1);
      const status = random.pick([500, undefined, "never"] as const);
      world.count(`webhooks refused: ${String(status)}`);
      return { word: `${told} ${String(status)}`, status };
    }
    webhook.isDelivered = true;
    return { word: `${told} 204`, status: 204 };
  };

  return {
    errands,
    placeOrder,
    forge,
    pay,
    deactivate,
    order,
    /** As the README says: what was lost is told again, a link before its payments. */
    republishAll: () => republish("payment-links", () => republish("settlements")),
    receive,
    ask: async ({ kind, hash }: { kind: string; hash: string }): Promise<IntrospectionAnswer> =>
      answers.get(`${kind} ${hash}`) ?? { found: false },
    registerAll: () => hostsOfReceivers.forEach(register),
    cookieOf,
    /** From now on every receiver answers. */
    becomeCalm: () => {
      isCalm = true;
    },
  };
};

/** 5xx and a lost answer are tried again; anything else is not as promised. */
const isUnanswered = (status: number, text: string, what: string): false => {
  if (status < 500) throw new Finding(`${what} is answered ${status} ${text}`);
  return false;
};

/** As Standard Webhooks 1.0 has it. */
const signNotice = (id: string, nowMs: number, body: string): string => {
  const key = Buffer.from(acme.secret.slice("whsec_".length), "base64");
  const signed = `${id}.${Math.floor(nowMs / 1000)}.${body}`;
  return `v1,${createHmac("sha256", key).update(signed).digest("base64")}`;
};

const holdSignature = (
  { secret }: Endpoint,
  headers: Readonly<Record<string, string>>,
  body: string,
): void => {
  const timestamp = headers["Service-Timestamp"] ?? "";
  const digest = createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex");
  hold(headers["Service-Signature"] === `v1=${digest}`, () => "a webhook's signature is wrong");
};
