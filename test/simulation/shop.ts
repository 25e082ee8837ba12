import { createHmac } from "node:crypto";
import {
  type Account,
  Decimal,
  type IntrospectionAnswer,
  hashSecret,
  mintApiKey,
  newId,
  scopes,
} from "@payment-links/contracts";
import { sampleAccount } from "@payment-links/contracts/testing/sample-account";
import type { ChainLog, SolanaTransfer, Transaction } from "./block.ts";
import { type Chain, proxyLog, transferLog } from "./chain.ts";
import { openBitcoinPayers } from "./bitcoin-payers.ts";
import { type ChainKind, bitcoin } from "./chain-kinds.ts";
import type { Deposit, ShownDeposit } from "./deposit-model.ts";
import { Finding, hold } from "./finding.ts";
import type { Received, Sent } from "./inject-request.ts";
import type { Endpoint, Model, WebhookBody } from "./model.ts";
import { type Flaw, type Money, type Order, type Payment, freshMoney } from "./money.ts";
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

const dustUnits = 4_000;
const failuresMax = 2;

/** The provider of notices, and its secret. */
export const acme = { name: "acme", secret: "whsec_c2V0dGxlbWVudC1ub3RpY2VzLXRlc3Q=" };

export const hostsOfReceivers = ["a1", "a2", "b1"].map((name) => `${name}.shop.example`);

const newAccount = (
  number: number,
  { chainType, tokens: [token], wallets }: ChainKind,
): AccountRow => ({
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
        chainType,
        isDefault: true,
        isChainDefault: true,
        provider: null,
      },
    ],
  }),
});

/** All who are outside: shops, their payers, a payment provider, and the receivers of webhooks. */
export const openShop = (
  world: World,
  model: Model,
  chain: Chain,
  {
    depositUnitsMin,
    kind,
  }: {
    kind: ChainKind;
    /** The least units of a token that show as a deposit; undefined where none are looked for. */
    depositUnitsMin: number | undefined;
  },
) => {
  const { erc20Proxy: proxy, forger, hexOf, otherWallet, unitsPerToken, wallets } = kind;
  const { unlistedToken } = kind;
  const [token, otherToken] = kind.tokens;
  const linkToken = token.hex;
  const wrongToken = otherToken?.hex ?? unlistedToken;
  /** Those without endpoints come late, so that addresses are heard of while a chain is watched. */
  const accountCount = wallets.length;
  const { random } = world;
  const errands: Errand[] = [];
  const accounts = Array.from({ length: accountCount }, (_, number) => newAccount(number, kind));
  const failures = new Map<string, number>();
  const heardOwners = new Set<string>();
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
          instructions: Partial<
            Record<"paymentReference" | "reference" | "address", string>
          > | null;
        };
        order.reference =
          instructions?.paymentReference ?? instructions?.reference ?? instructions?.address;
        // Some payers wait for nothing: their payment is there before everybody has heard of the link.
        if (order.reference !== undefined && random.chance(0.5)) {
          for (let paid = random.below(3); paid >= 0; paid -= 1) payOnChain(order, order.reference);
        }
        return true;
      },
    });

  const openPayment = (order: Order, units: number, flaw?: Flaw): Payment => ({
    number: model.payments.length + 1,
    order,
    amount: new Decimal(units).div(unitsPerToken).toFixed(),
    flaw,
    occurredAt: world.now(),
    ...freshMoney,
    isSentEarly: kind === bitcoin && !heardOwners.has(order.reference ?? ""),
  });

  const payers = openBitcoinPayers(world, model, chain, openPayment);

  const payOnChain = (order: Order, reference: string): void => {
    if (kind === bitcoin) return payers.pay(order);
    const from = random.pick(kind.payers);
    const units = (1 + random.below(12)) * (unitsPerToken / 2);
    const to = wallets[order.account] ?? "";
    const toHex = hexOf(to);
    const trick = random.below(12);
    if (trick === 0) {
      world.count("decoys on chain");
      // The proxy's event alone, and a payment in a transaction that fails.
      if (kind.chainType === "SVM") {
        // A transfer that fails, and one to somebody who is no owner.
        const named = { mint: token.address, units, reference };
        chain.send(from, { isSuccessful: false, transfers: [{ ...named, to }] });
        chain.send(from, { isSuccessful: true, transfers: [{ ...named, to: otherWallet }] });
        return;
      }
      const logs = [proxyLog({ proxy, token: linkToken, to: toHex, units, reference })];
      const transfer = transferLog({ token: linkToken, from, to: toHex, units });
      chain.send(from, { isSuccessful: true, logs });
      chain.send(from, { isSuccessful: false, logs: [transfer, ...logs] });
      return;
    }
    const flaws: readonly (Flaw | undefined)[] = [undefined, "wrong_token", "wrong_destination"];
    const flaw = flaws[trick];
    if (flaw === "wrong_token" && otherToken === undefined) return;
    // Solana is asked for owners alone.
    if (flaw === "wrong_destination" && kind.chainType === "SVM") return;
    const paid = {
      proxy,
      token: flaw === "wrong_token" ? wrongToken : linkToken,
      to: hexOf(flaw === "wrong_destination" ? otherWallet : to),
      units,
    };
    const payment = openPayment(order, units, flaw);
    const logs = logsOf({ ...paid, from, reference });
    const transfers = transfersOf({ ...paid, reference });
    const money: Money[] = [payment];
    if (trick === 3) {
      // Beside it the same transaction moves more to the owner, which names no link.
      const given = { from, to, token: linkToken, units: drawUnits() };
      const deposit = openDeposit(order.account, given);
      logs.splice(random.below(3), 0, ...deposit.logs);
      transfers.splice(random.below(2), 0, ...deposit.transfers);
      money.push(deposit.deposit);
    }
    const { hash } = chain.send(from, { isSuccessful: true, logs, transfers, money });
    for (const one of money) one.hash = hash;
    model.payments.push(payment);
    world.count("payments on chain");
  };

  type Paid = { from: string; token: string; to: string; units: number; reference: string };

  const logsOf = (paid: Paid): ChainLog[] =>
    kind.hasLogs ? [transferLog(paid), proxyLog({ ...paid, proxy })] : [];

  const transfersOf = ({
    reference,
    to,
    token: mint,
    units,
  }: Omit<Paid, "from" | "reference"> & {
    reference: string | undefined;
  }): SolanaTransfer[] => (kind.chainType === "SVM" ? [{ mint, to, units, reference }] : []);

  /** Units of which no two are alike, so that an amount tells one deposit from another. */
  const drawUnits = (): number =>
    (1 + random.below(12)) * (unitsPerToken / 2) + model.deposits.all.length + 1;

  type Given = {
    from: string;
    to: string;
    token: string;
    units: number;
    /** On Solana: a key that is no link's, as of a link that nobody has heard of; such a transfer is no deposit. */
    reference?: string | undefined;
  };

  const openDeposit = (
    account: number,
    { from, reference, to, token: address, units }: Given,
  ): { deposit: Deposit; logs: ChainLog[]; transfers: SolanaTransfer[] } => {
    const isOfCatalogue = address !== unlistedToken;
    const isFromOther = from !== hexOf(to);
    const isNamed = reference !== undefined;
    const deposit: Deposit = {
      number: 1_000 + model.deposits.all.length + 1,
      account,
      destinationAddress: to,
      amount: new Decimal(units).div(unitsPerToken).toFixed(),
      occurredAt: world.now(),
      ...freshMoney,
      isShown: isOfCatalogue && isFromOther && !isNamed && units >= (depositUnitsMin ?? Infinity),
      isOfLinks: address === linkToken,
      isOwnerHeard: heardOwners.has(to),
      wantedFor: new Set(),
      isDismissalWanted: false,
      isDismissed: false,
      assignedTo: undefined,
      order: undefined,
      flaw: undefined,
    };
    model.deposits.all.push(deposit);
    world.say(`deposit ${deposit.number} of ${units} to ${account}`);
    world.count(
      deposit.isShown ? `deposits on ${kind.chainType}` : "transfers that are no deposits",
    );
    const moved = { token: address, from, to: hexOf(to), units };
    return {
      deposit,
      logs: kind.hasLogs ? [transferLog(moved)] : [],
      transfers: transfersOf({ ...moved, reference }),
    };
  };

  /** Somebody sends a token to an owner's address, and says nothing. */
  const deposit = (): void => {
    if (kind === bitcoin) return;
    const ordered = model.orders.map((order) => order.account);
    const isStray = ordered.length === 0 || random.chance(0.2);
    const account = isStray ? random.below(accountCount) : random.pick(ordered);
    const to = wallets[account] ?? "";
    const from = random.chance(0.1) ? hexOf(to) : random.pick(kind.payers);
    const address = random.pick([...Array(4).fill(linkToken), wrongToken, unlistedToken]);
    const units = random.chance(0.15) ? dustUnits + model.deposits.all.length : drawUnits();
    const reference = kind.chainType === "SVM" && random.chance(0.2) ? otherWallet : undefined;
    const opened = openDeposit(account, { from, to, token: address, units, reference });
    const { logs, transfers } = opened;
    const money = [opened.deposit];
    const sent = chain.send(from, { isSuccessful: true, logs, transfers, money });
    opened.deposit.hash = sent.hash;
  };

  /** An owner looks at what came, and says of some of it what it was for, rightly or not. */
  const lookAtDeposits = (account: number): void =>
    ask({
      what: `deposits of ${account}`,
      service: "links-api",
      send: () => ({
        method: "GET",
        path: `/console/api/deposits?decision=${random.pick(["unmatched", "unmatched", "dismissed", "assigned"])}`,
        headers: cookieOf(account),
      }),
      answered: ({ status, text }) => {
        if (status !== 200) return isUnanswered(status, text, "a list of deposits");
        const { data } = JSON.parse(text) as { data: readonly ShownDeposit[] };
        const listed = model.deposits.listed(account, data);
        const linked = model.orders.filter(({ linkId }) => linkId !== undefined);
        for (const [index, one] of listed.entries()) {
          const id = data[index]?.id ?? "";
          const deciding = random.below(5);
          if (deciding === 1) dismiss(one, id);
          const own = linked.filter((order) => order.account === account);
          const likely = own.filter(({ linkId }) =>
            data[index]?.likelyLinks.some((link) => link.id === linkId),
          );
          const isRight = random.chance(0.8);
          const wanted = [likely, own].find((some) => isRight && some.length > 0) ?? linked;
          // Some say it twice, and not always the same.
          if (deciding < 2 || wanted.length === 0) continue;
          const first = random.pick(wanted);
          for (let times = 1; times < deciding; times += 1) {
            assign(one, id, random.chance(0.6) ? first : random.pick(wanted));
          }
        }
        return true;
      },
    });

  const assign = (one: Deposit, id: string, order: Order): void => {
    const { account, number } = one;
    one.wantedFor.add(order);
    ask({
      what: `assign deposit ${number} to ${order.number}`,
      service: "links-api",
      send: () => ({
        method: "POST",
        path: `/console/api/deposits/${id}/assign`,
        headers: cookieOf(account),
        body: JSON.stringify({ paymentLinkId: order.linkId }),
      }),
      answered: ({ status, text }) => {
        if (status === 404) {
          hold(order.account !== account, () => `deposit ${number} is not found: ${text}`);
          return true;
        }
        if (status === 409) {
          world.count("assignments refused");
          return true;
        }
        if (status !== 200) return isUnanswered(status, text, "an assignment");
        world.count("deposits assigned");
        hold(
          one.assignedTo === undefined || one.assignedTo === order,
          () => `deposit ${number} is given to links ${one.assignedTo?.number} and ${order.number}`,
        );
        one.assignedTo = order;
        return true;
      },
    });
  };

  const dismiss = (one: Deposit, id: string): void => {
    one.isDismissalWanted = true;
    ask({
      what: `dismiss deposit ${one.number}`,
      service: "links-api",
      send: () => ({
        method: "POST",
        path: `/console/api/deposits/${id}/dismiss`,
        headers: cookieOf(one.account),
      }),
      answered: ({ status, text }) => {
        if (status === 200) one.isDismissed = true;
        return status === 200 || status === 409 || isUnanswered(status, text, "a dismissal");
      },
    });
  };

  /** On Bitcoin a link has an address of its own. */
  const destinationOf = ({ account, reference }: Order): string =>
    (kind === bitcoin ? reference : wallets[account]) ?? "";

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
          chainId: flaw === "wrong_token" ? "1" : kind.chainId,
          tokenAddress: token.address,
          destinationAddress: flaw === "wrong_destination" ? otherWallet : destinationOf(order),
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
    if (!byNotice || (kind === bitcoin && order.reference === undefined)) return;
    const number = model.payments.length + 1;
    const flaws: readonly Flaw[] = ["wrong_token", "wrong_destination"];
    const payment: Payment = {
      number,
      order,
      amount: String(1 + random.below(12) / 2),
      flaw: random.chance(0.1) ? random.pick(flaws) : undefined,
      occurredAt: new Date(world.nowMs() - 1_000 * random.below(10)),
      ...freshMoney,
      hash: `0x${String(number).padStart(4, "0")}`,
      end: random.chance(0.85) ? "settled" : "failed",
      isOnChain: false,
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
    if (kind !== bitcoin && random.chance(0.3)) {
      const account = random.below(accountCount);
      const paid = {
        from: forger,
        to: wallets[account] ?? "",
        token: linkToken,
        units: drawUnits(),
      };
      const { deposit: forgedDeposit, logs, transfers } = openDeposit(account, paid);
      const made = chain.forge(forger, { isSuccessful: true, logs, transfers });
      Object.assign(forgedDeposit, { hash: made.hash, end: "failed", isForged: true });
      return made;
    }
    const known = model.orders.filter(({ reference }) => reference !== undefined);
    if (known.length === 0) return undefined;
    const order = random.pick(known);
    const units = 5 * unitsPerToken;
    const to = hexOf(wallets[order.account] ?? "");
    const paid = { proxy, token: linkToken, from: forger, to, units };
    const said = { ...paid, reference: order.reference ?? "" };
    const forged = chain.forge(forger, {
      isSuccessful: true,
      logs: logsOf(said),
      transfers: transfersOf(said),
      outputs: kind === bitcoin ? [payers.outputTo(order, units)] : [],
    });
    const payment = openPayment(order, units, undefined);
    model.payments.push(
      Object.assign(payment, { hash: forged.hash, end: "failed", isForged: true }),
    );
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
    deposit,
    /** A payer of Bitcoin thinks otherwise. */
    replace: () => payers.replace(),
    lookAtDeposits: () => lookAtDeposits(random.below(accountCount)),
    lookAtAllDeposits: () => accounts.forEach((_, account) => lookAtDeposits(account)),
    accountCount,
    /** From now on these addresses are known to be owners'. */
    heardOf: (addresses: readonly string[]) => addresses.forEach((one) => heardOwners.add(one)),
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
