import { parseArgs } from "node:util";
import { ConfigError, type Environment } from "@payment-links/runtime";
import { type Call, CommandError, send } from "./admin-call.ts";
import { republish } from "./republish.ts";

const usage = `usage: npm run --silent admin -- <command>

  account create --username <name> [--handle <handle>]
      opens an account; prints its id and a sign-in link, good once, for 15 minutes
  account sign-in-link --handle <handle> | --user-id <id>
      prints another sign-in link
  account suspend --handle <handle> | --user-id <id> [--reason <why>]
      keeps its keys, sessions and links from working; what is paid all the same still counts
  account resume --handle <handle> | --user-id <id> [--reason <why>]
      lets it work again; people sign in anew
  account verify --handle <handle> | --user-id <id> [--reason <why>]
      vouches for a seller: where anyone may sign up, checkout pages warn of all others
  account unverify --handle <handle> | --user-id <id> [--reason <why>]
      takes that back
  account revoke-everything --handle <handle> | --user-id <id>
      takes its keys, sessions, sign-in links and identities away; a new link is the way back
  audit list [--after <seq>]
      what was done to all accounts, the oldest first, a hundred at a time; --after goes on
  dead-letters list --service <service> [--after <seq>]
      what a service could not apply, a hundred at a time
  dead-letters replay --service <service> [--key <key>] [--after <seq>]
      runs it again: all, or one key, or what lies behind where the last replay ended
  dead-letters discard --service <service> --seq <seq> --reason <why>
      gives one up for good; it is kept with the reason, and what waits behind it can be replayed
  devnet pay --link <id> [--amount <amount>]
      pays a link on its local chain, as its payer would; prints the transaction
  republish accounts|payment-links|settlements [--no-wait]
      has every service told the present state again, after a lost broker or a restore; waits until
      that is done. It goes on by itself if this command is ended: given again, it begins anew and waits
  settlement status
      how far each chain is watched, and what waits for a link
  settlement rescan --chain <chain id> --from <block> --to <block>
      has a range of blocks read again
  settlement cancel-rescans --chain <chain id>
      gives up the chain's rescans that are not done
  settlement resume --chain <chain id> --shared-block <block>
      lets a halted chain go on from the last block that it shares with what was seen before
  webhooks reseal
      seals all webhook secrets under the first of WEBHOOK_SECRET_KEYS; then the others may go

--as <name>, with the account commands, says which operator it is; the audit log keeps it.
AUTH_KEYS_INTERNAL_URL, LINKS_API_INTERNAL_URL, SETTLEMENT_LISTENER_INTERNAL_URL and
WEBHOOK_DISPATCHER_INTERNAL_URL say where the services are (http://127.0.0.1:8081, the all-in-one's);
OPERATOR_TOKEN or OPERATOR_TOKEN_FILE is what their internal ports require of operators.
`;

/** A command that cannot be understood; its message says why. */
class UsageError extends Error {}

type Options = Record<string, string | undefined>;
type Command = {
  options: readonly string[];
  /** Options without a value. */
  flags?: readonly string[];
  /** Reads the options, and answers a function that carries the command out. */
  read: (options: Options) => (environment: Environment) => Promise<unknown>;
};

const headerText = /^[\x20-\x7e\xa0-\xff]+$/;

/** A command that is one call to one service, as nearly all are. */
const oneCall = (options: readonly string[], call: (options: Options) => Call): Command => ({
  options: [...options, "as"],
  read: ({ as: operator, ...given }) => {
    if (operator !== undefined && !headerText.test(operator)) {
      throw new UsageError("--as is sent in a header, which has letters of Latin-1 only");
    }
    const read = { ...call(given), operator };
    return (environment) => send(read, environment);
  },
});

const republishing = (service: Call["service"], what: string): Command => ({
  options: [],
  flags: ["no-wait"],
  read:
    ({ "no-wait": noWait }) =>
    (environment) =>
      republish({ service, what, isWaiting: noWait === undefined }, environment),
});

const named = ["handle", "user-id"] as const;

/** A call about one account, which its handle or its id names. */
const onAccount = (path: string, { handle, "user-id": userId, reason }: Options): Call => ({
  service: "auth-keys",
  method: "POST",
  path,
  body: {
    ...(userId === undefined ? { handle: demand("handle", handle) } : { userId }),
    ...(reason === undefined ? {} : { reason }),
  },
  notFound: "no account has this handle or id",
});

const commands: Record<string, Command> = {
  "account create": oneCall(["username", "handle"], ({ username, handle }) => ({
    service: "auth-keys",
    method: "POST",
    path: "/internal/accounts",
    body: {
      username: demand("username", username),
      ...(handle === undefined ? {} : { handle }),
    },
  })),
  "account sign-in-link": oneCall(named, (given) => onAccount("/internal/sign-in-links", given)),
  "account suspend": oneCall([...named, "reason"], (given) =>
    onAccount("/internal/accounts/suspend", given),
  ),
  "account resume": oneCall([...named, "reason"], (given) =>
    onAccount("/internal/accounts/resume", given),
  ),
  "account verify": oneCall([...named, "reason"], (given) =>
    onAccount("/internal/accounts/verify", given),
  ),
  "account unverify": oneCall([...named, "reason"], (given) =>
    onAccount("/internal/accounts/unverify", given),
  ),
  "account revoke-everything": oneCall(named, (given) =>
    onAccount("/internal/accounts/revoke-everything", given),
  ),
  "audit list": oneCall(["after"], ({ after }) => ({
    service: "auth-keys",
    method: "GET",
    path: `/internal/audit-log${after === undefined ? "" : `?afterSeq=${demandNumber("after", after)}`}`,
  })),
  "dead-letters list": oneCall(["service", "after"], ({ service, after }) => ({
    ...deadLetters(service, "", { afterSeq: after }),
    method: "GET",
  })),
  "dead-letters replay": oneCall(["service", "key", "after"], ({ service, key, after }) => ({
    ...deadLetters(service, "/replay", { key, afterSeq: after }),
    method: "POST",
  })),
  "dead-letters discard": oneCall(["service", "seq", "reason"], ({ service, seq, reason }) => ({
    ...deadLetters(service, "/discard"),
    method: "POST",
    body: { seq: demandNumber("seq", seq), reason: demand("reason", reason) },
    notFound: "no such dead letter is there",
  })),
  "devnet pay": oneCall(["link", "amount"], ({ link, amount }) => ({
    service: "settlement-listener",
    method: "POST",
    path: "/internal/devnet/payments",
    body: { paymentLinkId: demand("link", link), ...(amount === undefined ? {} : { amount }) },
    notFound: "no local chain runs there; npm start brings them up, without --no-devnet",
  })),
  "republish accounts": republishing("auth-keys", "accounts"),
  "republish payment-links": republishing("links-api", "payment-links"),
  "republish settlements": republishing("settlement-listener", "settlements"),
  "settlement status": oneCall([], () => ({
    service: "settlement-listener",
    method: "GET",
    path: "/internal/settlement/status",
  })),
  "settlement rescan": oneCall(["chain", "from", "to"], ({ chain, from, to }) => ({
    service: "settlement-listener",
    method: "POST",
    path: "/internal/settlement/rescan",
    body: {
      chainId: demand("chain", chain),
      fromBlock: demandNumber("from", from),
      toBlock: demandNumber("to", to),
    },
    notFound: "no such chain is watched there",
  })),
  "settlement cancel-rescans": oneCall(["chain"], ({ chain }) => ({
    service: "settlement-listener",
    method: "POST",
    path: "/internal/settlement/cancel-rescans",
    body: { chainId: demand("chain", chain) },
    notFound: "no such chain is watched there",
  })),
  "settlement resume": oneCall(["chain", "shared-block"], (given) => ({
    service: "settlement-listener",
    method: "POST",
    path: "/internal/settlement/resume",
    body: {
      chainId: demand("chain", given.chain),
      sharedBlock: demandNumber("shared-block", given["shared-block"]),
    },
    notFound: "no such chain is halted there",
  })),
  "webhooks reseal": oneCall([], () => ({
    service: "webhook-dispatcher",
    method: "POST",
    path: "/internal/webhook-secrets/reseal",
  })),
};

const demand = (option: string, value: string | undefined): string => {
  if (value === undefined) throw new UsageError(`--${option} is missing`);
  return value;
};

const demandNumber = (option: string, value: string | undefined): number => {
  const text = demand(option, value);
  if (!/^\d{1,15}$/.test(text)) throw new UsageError(`--${option} is a number`);
  return Number(text);
};

const consumers = ["auth-keys", "links-api", "settlement-listener", "webhook-dispatcher"] as const;

const deadLetters = (name: string | undefined, act: string, query: Options = {}) => {
  const service = consumers.find((consumer) => consumer === demand("service", name));
  if (service === undefined) throw new UsageError(`--service is one of ${consumers.join(", ")}`);
  const given = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value !== undefined) given.set(key, value);
  const text = given.toString();
  const path = `/internal/dead-letters/${service}${act}`;
  return { service, path: text === "" ? path : `${path}?${text}` };
};

const readCommand = (args: readonly string[]): ReturnType<Command["read"]> => {
  const name = args.slice(0, 2).join(" ");
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) throw new UsageError(`there is no command "${name}"`);
  const names = command.options.map((option) => [option, { type: "string" }] as const);
  const flags = command.flags?.map((flag) => [flag, { type: "boolean" }] as const) ?? [];
  return command.read(readOptions(args.slice(2), Object.fromEntries([...names, ...flags])));
};

const readOptions = (
  args: readonly string[],
  options: Record<string, { readonly type: "string" | "boolean" }>,
): Options => {
  try {
    const { values } = parseArgs({ args: [...args], options });
    return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : "the options are wrong");
  }
};

/**
 * Carries a command out; answers the exit code. Data goes to stdout as one line, everything else to
 * stderr.
 */
const main = async (args: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> => {
  if (args.length === 0 || args.includes("--help") || args[0] === "help") {
    process.stderr.write(usage);
    return args.length === 0 ? 2 : 0;
  }
  try {
    const answer = await readCommand(args)(environment);
    process.stdout.write(`${JSON.stringify(answer)}\n`);
    return 0;
  } catch (error) {
    if (error instanceof UsageError) {
      process.stderr.write(`${error.message}\n\n${usage}`);
      return 2;
    }
    const isTold = error instanceof CommandError || error instanceof ConfigError;
    process.stderr.write(`${isTold ? error.message : String(error)}\n`);
    return error instanceof ConfigError ? 2 : 1;
  }
};

process.exitCode = await main(process.argv.slice(2), process.env);
