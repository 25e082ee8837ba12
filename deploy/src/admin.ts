import { parseArgs } from "node:util";
import { ConfigError, type Environment } from "@payment-links/runtime";
import { type AdminCall, CommandError, sendCall } from "./admin-call.ts";
import { republish } from "./republish.ts";

const usage = `usage: npm run --silent admin -- <command>

  account create --username <name> [--handle <handle>]
      creates an account; prints its id and a sign-in link that is valid once, for 15 minutes
  account sign-in-link --handle <handle> | --user-id <id>
      prints a new sign-in link
  account suspend --handle <handle> | --user-id <id> [--reason <why>]
      disables its keys, sessions and links; payments that still arrive are credited
  account resume --handle <handle> | --user-id <id> [--reason <why>]
      ends the suspension; users must sign in again
  account verify --handle <handle> | --user-id <id> [--reason <why>]
      marks a seller as verified; with open sign-up, checkout pages warn about all other sellers
  account unverify --handle <handle> | --user-id <id> [--reason <why>]
      removes the verification
  account revoke-everything --handle <handle> | --user-id <id>
      revokes its keys, sessions, sign-in links and identities; a new link restores access
  audit list [--after <seq>]
      lists the actions on all accounts, oldest first, 100 per page; --after gets the next page
  dead-letters list --service <service> [--after <seq>]
      lists the events that a service could not apply, 100 per page
  dead-letters replay --service <service> [--key <key>] [--after <seq>]
      applies them again: all, those of one key, or those after the end of the last replay
  dead-letters discard --service <service> --seq <seq> --reason <why>
      discards one permanently; its record and reason are stored, and the events that it blocked
      can be replayed
  devnet pay --link <id> [--amount <amount>]
      pays a link on its local chain as a payer would; prints the transaction
  republish accounts|payment-links|settlements [--no-wait]
      publishes the current state to all services again, after the loss of a broker or a restore;
      waits until it is done. If this command is stopped, the republish continues; running the
      command again starts it over
  settlement status
      prints the scan progress of each chain, and the payments that wait for their link
  settlement rescan --chain <chain id> --from <block> --to <block>
      scans a range of blocks again
  settlement cancel-rescans --chain <chain id>
      cancels the chain's unfinished rescans
  settlement resume --chain <chain id> --shared-block <block>
      resumes a halted chain after the last block that it shares with the blocks seen before
  webhooks reseal
      re-encrypts all webhook secrets with the first key of WEBHOOK_SECRET_KEYS; afterwards, the
      other keys can be removed

--as <name> names the operator in the audit log; account commands accept it.
AUTH_KEYS_INTERNAL_URL, LINKS_API_INTERNAL_URL, SETTLEMENT_LISTENER_INTERNAL_URL and
WEBHOOK_DISPATCHER_INTERNAL_URL are the services' internal URLs (default: http://127.0.0.1:8081, as in
the all-in-one); OPERATOR_TOKEN or OPERATOR_TOKEN_FILE is the operator's token for these URLs.
`;

/** Thrown if the command line is invalid. The message gives the reason. */
class UsageError extends Error {}

type CommandOptions = Record<string, string | undefined>;
type Command = {
  options: readonly string[];
  /** Options without a value. */
  flags?: readonly string[];
  /** Parses the options and returns a function that runs the command. */
  parse: (options: CommandOptions) => (environment: Environment) => Promise<unknown>;
};

const headerValuePattern = /^[\x20-\x7e\xa0-\xff]+$/;

/** Creates a command that sends a single request to one service, as most commands do. */
const createCallCommand = (
  options: readonly string[],
  buildCall: (options: CommandOptions) => AdminCall,
): Command => ({
  options: [...options, "as"],
  parse: ({ as: operator, ...callOptions }) => {
    if (operator !== undefined && !headerValuePattern.test(operator)) {
      throw new UsageError("--as is sent in a header: use only Latin-1 characters");
    }
    const adminCall = { ...buildCall(callOptions), operator };
    return (environment) => sendCall(adminCall, environment);
  },
});

const createRepublishCommand = (service: AdminCall["service"], resource: string): Command => ({
  options: [],
  flags: ["no-wait"],
  parse:
    ({ "no-wait": noWait }) =>
    (environment) =>
      republish({ service, resource, shouldWait: noWait === undefined }, environment),
});

/** Creates a command about the account with the given handle or id. */
const createAccountCommand = (path: string, options: readonly string[] = []): Command =>
  createCallCommand(["handle", "user-id", ...options], ({ handle, "user-id": userId, reason }) => ({
    service: "auth-keys",
    method: "POST",
    path,
    body: {
      ...(userId === undefined ? { handle: requireOption("handle", handle) } : { userId }),
      ...(reason === undefined ? {} : { reason }),
    },
    notFound: "no account has this handle or id",
  }));

const commands: Record<string, Command> = {
  "account create": createCallCommand(["username", "handle"], ({ username, handle }) => ({
    service: "auth-keys",
    method: "POST",
    path: "/internal/accounts",
    body: {
      username: requireOption("username", username),
      ...(handle === undefined ? {} : { handle }),
    },
  })),
  "account sign-in-link": createAccountCommand("/internal/sign-in-links"),
  "account suspend": createAccountCommand("/internal/accounts/suspend", ["reason"]),
  "account resume": createAccountCommand("/internal/accounts/resume", ["reason"]),
  "account verify": createAccountCommand("/internal/accounts/verify", ["reason"]),
  "account unverify": createAccountCommand("/internal/accounts/unverify", ["reason"]),
  "account revoke-everything": createAccountCommand("/internal/accounts/revoke-everything"),
  "audit list": createCallCommand(["after"], ({ after }) => ({
    service: "auth-keys",
    method: "GET",
    path: `/internal/audit-log${after === undefined ? "" : `?afterSeq=${requireNumberOption("after", after)}`}`,
  })),
  "dead-letters list": createCallCommand(["service", "after"], ({ service, after }) => ({
    ...createDeadLetterCall(service, "", { afterSeq: after }),
    method: "GET",
  })),
  "dead-letters replay": createCallCommand(
    ["service", "key", "after"],
    ({ service, key, after }) => ({
      ...createDeadLetterCall(service, "/replay", { key, afterSeq: after }),
      method: "POST",
    }),
  ),
  "dead-letters discard": createCallCommand(
    ["service", "seq", "reason"],
    ({ service, seq, reason }) => ({
      ...createDeadLetterCall(service, "/discard"),
      method: "POST",
      body: { seq: requireNumberOption("seq", seq), reason: requireOption("reason", reason) },
      notFound: "the service has no such dead letter",
    }),
  ),
  "devnet pay": createCallCommand(["link", "amount"], ({ link, amount }) => ({
    service: "settlement-listener",
    method: "POST",
    path: "/internal/devnet/payments",
    body: {
      paymentLinkId: requireOption("link", link),
      ...(amount === undefined ? {} : { amount }),
    },
    notFound: "no local chain is running; use npm start without --no-devnet",
  })),
  "republish accounts": createRepublishCommand("auth-keys", "accounts"),
  "republish payment-links": createRepublishCommand("links-api", "payment-links"),
  "republish settlements": createRepublishCommand("settlement-listener", "settlements"),
  "settlement status": createCallCommand([], () => ({
    service: "settlement-listener",
    method: "GET",
    path: "/internal/settlement/status",
  })),
  "settlement rescan": createCallCommand(["chain", "from", "to"], ({ chain, from, to }) => ({
    service: "settlement-listener",
    method: "POST",
    path: "/internal/settlement/rescan",
    body: {
      chainId: requireOption("chain", chain),
      fromBlock: requireNumberOption("from", from),
      toBlock: requireNumberOption("to", to),
    },
    notFound: "no watched chain has this id",
  })),
  "settlement cancel-rescans": createCallCommand(["chain"], ({ chain }) => ({
    service: "settlement-listener",
    method: "POST",
    path: "/internal/settlement/cancel-rescans",
    body: { chainId: requireOption("chain", chain) },
    notFound: "no watched chain has this id",
  })),
  "settlement resume": createCallCommand(["chain", "shared-block"], (callOptions) => ({
    service: "settlement-listener",
    method: "POST",
    path: "/internal/settlement/resume",
    body: {
      chainId: requireOption("chain", callOptions.chain),
      sharedBlock: requireNumberOption("shared-block", callOptions["shared-block"]),
    },
    notFound: "no halted chain has this id",
  })),
  "webhooks reseal": createCallCommand([], () => ({
    service: "webhook-dispatcher",
    method: "POST",
    path: "/internal/webhook-secrets/reseal",
  })),
};

const requireOption = (option: string, value: string | undefined): string => {
  if (value === undefined) throw new UsageError(`--${option} is missing`);
  return value;
};

const requireNumberOption = (option: string, value: string | undefined): number => {
  const optionValue = requireOption(option, value);
  if (!/^\d{1,15}$/.test(optionValue)) throw new UsageError(`--${option} must be a number`);
  return Number(optionValue);
};

const consumerServices = [
  "auth-keys",
  "links-api",
  "settlement-listener",
  "webhook-dispatcher",
] as const;

const createDeadLetterCall = (
  name: string | undefined,
  subPath: string,
  query: CommandOptions = {},
) => {
  const service = consumerServices.find((consumer) => consumer === requireOption("service", name));
  if (service === undefined)
    throw new UsageError(`--service must be one of ${consumerServices.join(", ")}`);
  const searchParams = new URLSearchParams();
  for (const [key, value] of Object.entries(query))
    if (value !== undefined) searchParams.set(key, value);
  const queryString = searchParams.toString();
  const path = `/internal/dead-letters/${service}${subPath}`;
  return { service, path: queryString === "" ? path : `${path}?${queryString}` };
};

const parseCommand = (args: readonly string[]): ReturnType<Command["parse"]> => {
  const name = args.slice(0, 2).join(" ");
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) throw new UsageError(`unknown command "${name}"`);
  const optionEntries = command.options.map((option) => [option, { type: "string" }] as const);
  const flags = command.flags?.map((flag) => [flag, { type: "boolean" }] as const) ?? [];
  return command.parse(
    parseOptions(args.slice(2), Object.fromEntries([...optionEntries, ...flags])),
  );
};

const parseOptions = (
  args: readonly string[],
  options: Record<string, { readonly type: "string" | "boolean" }>,
): CommandOptions => {
  try {
    const { values } = parseArgs({ args: [...args], options });
    return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : "invalid options");
  }
};

/**
 * Runs a command and returns the exit code. Data goes to stdout as one line, everything else to
 * stderr.
 */
const main = async (args: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> => {
  if (args.length === 0 || args.includes("--help") || args[0] === "help") {
    process.stderr.write(usage);
    return args.length === 0 ? 2 : 0;
  }
  try {
    const result = await parseCommand(args)(environment);
    process.stdout.write(`${JSON.stringify(result)}\n`);
    return 0;
  } catch (error) {
    if (error instanceof UsageError) {
      process.stderr.write(`${error.message}\n\n${usage}`);
      return 2;
    }
    const isExpectedError = error instanceof CommandError || error instanceof ConfigError;
    process.stderr.write(`${isExpectedError ? error.message : String(error)}\n`);
    return error instanceof ConfigError ? 2 : 1;
  }
};

process.exitCode = await main(process.argv.slice(2), process.env);
