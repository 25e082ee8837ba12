import { parseArgs } from "node:util";
import { request } from "undici";
import * as z from "zod";
import { ConfigError, OriginUrl, readConfig, readSecret } from "@payment-links/runtime";

const usage = `usage: npm run --silent admin -- <command>

  account create --username <name> [--handle <handle>]
      opens an account; prints its id and a sign-in link, good once, for 15 minutes
  account sign-in-link --handle <handle> | --user-id <id>
      prints another sign-in link
  dead-letters list|replay --service links-api|settlement-listener|webhook-dispatcher
      what a service could not apply, or runs it again
  republish accounts|payment-links
      tells every service the present state again, after a lost broker or a restore
  webhooks reseal
      seals all webhook secrets under the first of WEBHOOK_SECRET_KEYS; then the others may go

AUTH_KEYS_INTERNAL_URL, LINKS_API_INTERNAL_URL, SETTLEMENT_LISTENER_INTERNAL_URL and
WEBHOOK_DISPATCHER_INTERNAL_URL say where the services are (http://127.0.0.1:8081, the all-in-one's);
INTERNAL_TOKEN or INTERNAL_TOKEN_FILE is what their internal ports require.
`;

const services = {
  "auth-keys": "AUTH_KEYS_INTERNAL_URL",
  "links-api": "LINKS_API_INTERNAL_URL",
  "settlement-listener": "SETTLEMENT_LISTENER_INTERNAL_URL",
  "webhook-dispatcher": "WEBHOOK_DISPATCHER_INTERNAL_URL",
} as const;
type ServiceName = keyof typeof services;

const address = OriginUrl.default("http://127.0.0.1:8081");
const adminConfig = z.object({
  AUTH_KEYS_INTERNAL_URL: address,
  LINKS_API_INTERNAL_URL: address,
  SETTLEMENT_LISTENER_INTERNAL_URL: address,
  WEBHOOK_DISPATCHER_INTERNAL_URL: address,
});

/** A command that cannot be understood; its message says why. */
class UsageError extends Error {}

/** A command that was understood and not carried out; its message is for the operator. */
class CommandError extends Error {}

/** One call to one service, which is what every command comes down to. */
type Call = {
  service: ServiceName;
  method: "GET" | "POST";
  path: string;
  body?: Record<string, string>;
  /** What a 404 means, where it does not mean another address. */
  notFound?: string;
};

type Options = Record<string, string | undefined>;
type Command = { options: readonly string[]; call: (options: Options) => Call };

const commands: Record<string, Command> = {
  "account create": {
    options: ["username", "handle"],
    call: ({ username, handle }) => ({
      service: "auth-keys",
      method: "POST",
      path: "/internal/accounts",
      body: {
        username: demand("username", username),
        ...(handle === undefined ? {} : { handle }),
      },
    }),
  },
  "account sign-in-link": {
    options: ["handle", "user-id"],
    call: ({ handle, "user-id": userId }) => ({
      service: "auth-keys",
      method: "POST",
      path: "/internal/sign-in-links",
      body: userId === undefined ? { handle: demand("handle", handle) } : { userId },
      notFound: "no account has this handle or id",
    }),
  },
  "dead-letters list": {
    options: ["service"],
    call: ({ service }) => ({ ...deadLetters(service), method: "GET" }),
  },
  "dead-letters replay": {
    options: ["service"],
    call: ({ service }) => {
      const { path, ...rest } = deadLetters(service);
      return { ...rest, method: "POST", path: `${path}/replay` };
    },
  },
  "republish accounts": {
    options: [],
    call: () => ({ service: "auth-keys", method: "POST", path: "/internal/republish/accounts" }),
  },
  "republish payment-links": {
    options: [],
    call: () => ({
      service: "links-api",
      method: "POST",
      path: "/internal/republish/payment-links",
    }),
  },
  "webhooks reseal": {
    options: [],
    call: () => ({
      service: "webhook-dispatcher",
      method: "POST",
      path: "/internal/webhook-secrets/reseal",
    }),
  },
};

const demand = (option: string, value: string | undefined): string => {
  if (value === undefined) throw new UsageError(`--${option} is missing`);
  return value;
};

const consumers = ["links-api", "settlement-listener", "webhook-dispatcher"] as const;

const deadLetters = (name: string | undefined) => {
  const service = consumers.find((consumer) => consumer === demand("service", name));
  if (service === undefined) throw new UsageError(`--service is one of ${consumers.join(", ")}`);
  return { service, path: `/internal/dead-letters/${service}` };
};

const readCall = (args: readonly string[]): Call => {
  const name = args.slice(0, 2).join(" ");
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) throw new UsageError(`there is no command "${name}"`);
  const names = command.options.map((option) => [option, { type: "string" }] as const);
  return command.call(readOptions(args.slice(2), Object.fromEntries(names)));
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

/** A replay or a republication may take minutes. */
const timeoutMs = 600_000;

const send = async (call: Call, environment: NodeJS.ProcessEnv): Promise<unknown> => {
  const url = readConfig(adminConfig, environment)[services[call.service]];
  const token = readSecret(environment, "INTERNAL_TOKEN");
  const { status, text } = await ask(url, call, token).catch((error: unknown) => {
    throw new CommandError(explainNoAnswer(error, call.service, url));
  });
  const isDone = status >= 200 && status < 300;
  if (!isDone) throw new CommandError(explainRefusal(status, text, call, url));
  const value = parseJson(text);
  if (value === undefined) throw new CommandError(`${url} answered with something that is no JSON`);
  return value;
};

const ask = async (url: string, { method, path, body }: Call, token: string | undefined) => {
  const answer = await request(`${url}${path}`, {
    method,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.statusCode, text: await answer.body.text() };
};

const explainNoAnswer = (error: unknown, service: ServiceName, url: string): string => {
  const where = `${service} at ${url}`;
  const code = error instanceof Error && "code" in error ? String(error.code) : "no connection";
  if (code === "ECONNREFUSED") {
    return `nothing listens for ${where}: start it (npm start), or set ${services[service]}`;
  }
  if (code === "UND_ERR_HEADERS_TIMEOUT" || code === "UND_ERR_BODY_TIMEOUT") {
    return `${where} did not answer within ${timeoutMs / 1000} s; it may still be at work`;
  }
  return `${where} cannot be reached (${code}); is ${services[service]} right?`;
};

const ErrorBody = z.object({
  errors: z.array(z.object({ code: z.string(), message: z.string() })),
});

const explainRefusal = (status: number, text: string, call: Call, url: string): string => {
  const where = `${call.service} at ${url}`;
  if (status === 401) return `${where} wants another INTERNAL_TOKEN`;
  if (status === 404) {
    return call.notFound ?? `${call.service} is not at ${url}; set ${services[call.service]}`;
  }
  const body = ErrorBody.safeParse(parseJson(text));
  if (!body.success) return `${where} answered with status ${status}`;
  return body.data.errors.map(({ code, message }) => `${code}: ${message}`).join("\n");
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Carries a command out; answers the exit code. Data goes to stdout as one line, all else to stderr. */
const main = async (args: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> => {
  if (args.length === 0 || args.includes("--help") || args[0] === "help") {
    process.stderr.write(usage);
    return args.length === 0 ? 2 : 0;
  }
  try {
    const answer = await send(readCall(args), environment);
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
