import { parseArgs } from "node:util";
import { ConfigError, type Environment } from "@payment-links/runtime";
import { type Call, CommandError, send } from "./admin-call.ts";
import { payOnDevnet } from "./pay-on-devnet.ts";

const usage = `usage: npm run --silent admin -- <command>

  account create --username <name> [--handle <handle>]
      opens an account; prints its id and a sign-in link, good once, for 15 minutes
  account sign-in-link --handle <handle> | --user-id <id>
      prints another sign-in link
  dead-letters list|replay --service links-api|settlement-listener|webhook-dispatcher
      what a service could not apply, or runs it again
  devnet pay --link <id> [--amount <amount>]
      pays a link on the local devnet, as its payer would; prints the transaction
  republish accounts|payment-links
      tells every service the present state again, after a lost broker or a restore
  settlement status
      how far each chain is watched, and what waits for a link
  settlement rescan --chain <chain id> --from <block> --to <block>
      has a range of blocks read again
  settlement resume --chain <chain id> --shared-block <block>
      lets a halted chain go on from the last block that it shares with what was seen before
  webhooks reseal
      seals all webhook secrets under the first of WEBHOOK_SECRET_KEYS; then the others may go

AUTH_KEYS_INTERNAL_URL, LINKS_API_INTERNAL_URL, SETTLEMENT_LISTENER_INTERNAL_URL and
WEBHOOK_DISPATCHER_INTERNAL_URL say where the services are (http://127.0.0.1:8081, the all-in-one's);
INTERNAL_TOKEN or INTERNAL_TOKEN_FILE is what their internal ports require.
`;

/** A command that cannot be understood; its message says why. */
class UsageError extends Error {}

type Options = Record<string, string | undefined>;
type Command = {
  options: readonly string[];
  /** Reads the options, and answers a function that carries the command out. */
  read: (options: Options) => (environment: Environment) => Promise<unknown>;
};

/** A command that is one call to one service, as nearly all are. */
const oneCall = (options: readonly string[], call: (options: Options) => Call): Command => ({
  options,
  read: (given) => {
    const read = call(given);
    return (environment) => send(read, environment);
  },
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
  "account sign-in-link": oneCall(["handle", "user-id"], ({ handle, "user-id": userId }) => ({
    service: "auth-keys",
    method: "POST",
    path: "/internal/sign-in-links",
    body: userId === undefined ? { handle: demand("handle", handle) } : { userId },
    notFound: "no account has this handle or id",
  })),
  "dead-letters list": oneCall(["service"], ({ service }) => ({
    ...deadLetters(service),
    method: "GET",
  })),
  "dead-letters replay": oneCall(["service"], ({ service }) => {
    const { path, ...rest } = deadLetters(service);
    return { ...rest, method: "POST", path: `${path}/replay` };
  }),
  "devnet pay": {
    options: ["link", "amount"],
    read: ({ link, amount }) => {
      const order = { linkId: demand("link", link), amount };
      return (environment) => payOnDevnet(order, environment);
    },
  },
  "republish accounts": oneCall([], () => ({
    service: "auth-keys",
    method: "POST",
    path: "/internal/republish/accounts",
  })),
  "republish payment-links": oneCall([], () => ({
    service: "links-api",
    method: "POST",
    path: "/internal/republish/payment-links",
  })),
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
      fromBlock: demandBlock("from", from),
      toBlock: demandBlock("to", to),
    },
    notFound: "no such chain is watched there",
  })),
  "settlement resume": oneCall(["chain", "shared-block"], (given) => ({
    service: "settlement-listener",
    method: "POST",
    path: "/internal/settlement/resume",
    body: {
      chainId: demand("chain", given.chain),
      sharedBlock: demandBlock("shared-block", given["shared-block"]),
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

const demandBlock = (option: string, value: string | undefined): number => {
  const text = demand(option, value);
  if (!/^\d{1,15}$/.test(text)) throw new UsageError(`--${option} is a block number`);
  return Number(text);
};

const consumers = ["links-api", "settlement-listener", "webhook-dispatcher"] as const;

const deadLetters = (name: string | undefined) => {
  const service = consumers.find((consumer) => consumer === demand("service", name));
  if (service === undefined) throw new UsageError(`--service is one of ${consumers.join(", ")}`);
  return { service, path: `/internal/dead-letters/${service}` };
};

const readCommand = (args: readonly string[]): ReturnType<Command["read"]> => {
  const name = args.slice(0, 2).join(" ");
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) throw new UsageError(`there is no command "${name}"`);
  const names = command.options.map((option) => [option, { type: "string" }] as const);
  return command.read(readOptions(args.slice(2), Object.fromEntries(names)));
};

const readOptions = (
  args: readonly string[],
  options: Record<string, { readonly type: "string" }>,
): Options => {
  try {
    return parseArgs({ args: [...args], options }).values;
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
