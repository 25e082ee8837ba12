import { readFileSync } from "node:fs";
import * as z from "zod";

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * An invalid configuration. The message names the variable of every error. It never includes a
 * value.
 */
export class ConfigError extends Error {}

/**
 * Creates a `ConfigError`. Each message must start with the variable's name and must not include a
 * value.
 */
export const createConfigError = (messages: readonly string[]): ConfigError =>
  new ConfigError(
    ["Invalid configuration:", ...messages.map((message) => `  ${message}`)].join("\n"),
  );

/**
 * Parses the configuration. Call it once at startup. An empty variable counts as missing. Throws a
 * `ConfigError` that lists every error by the variable's name, without any values (rule OPS-4).
 * Checks that involve several variables run only when each variable is well-formed.
 */
export const parseConfig = <Schema extends z.ZodType>(
  schema: Schema,
  environment: Environment,
): z.output<Schema> => {
  const definedVariables = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ""),
  );
  const result = schema.safeParse(definedVariables);
  if (result.success) return result.data;
  const messages = result.error.issues.map((issue) => {
    const name = issue.path.join(".");
    const isMissing = issue.code === "invalid_type" && !(name in definedVariables);
    return `${name || "configuration"}: ${isMissing ? "is missing" : issue.message}`;
  });
  throw createConfigError(messages);
};

/**
 * Returns the value of a variable, or the trimmed content of the file whose path is in its `…_FILE`
 * variant. Returns undefined if both are missing or empty. Throws `ConfigError` if the file is
 * unreadable or empty, or if both are set.
 */
export const readSecret = (environment: Environment, name: string): string | undefined => {
  const value = environment[name] || undefined;
  const filePath = environment[`${name}_FILE`];
  if (filePath === undefined || filePath === "") return value;
  const createFileError = (reason: string) => createConfigError([`${name}_FILE: ${reason}`]);
  if (value !== undefined) throw createFileError(`${name} is also set; remove one of them`);
  const content = readTextFile(filePath);
  if (content === undefined) throw createFileError("the file cannot be read");
  if (content === "") throw createFileError("the file is empty");
  return content;
};

const readTextFile = (filePath: string): string | undefined => {
  try {
    return readFileSync(filePath, "utf8").trim();
  } catch {
    return undefined;
  }
};

/**
 * An http or https base URL without credentials, query or fragment. Trailing slashes are removed.
 */
export const OriginUrl = z
  .url({ protocol: /^https?$/, error: "must be an http or https URL", abort: true })
  .refine((url) => !/[?#@]/.test(url), {
    error: "must not contain credentials, a query or a fragment",
  })
  .transform((url) => url.replace(/\/+$/, ""));

/** A TCP port. With 0, the operating system chooses one. */
export const Port = z
  .string()
  .regex(/^\d{1,5}$/, { error: "must be a port number" })
  .transform(Number)
  .refine((port) => port <= 65_535, { error: "must be at most 65535" });

const rateLimitPattern = /^(\d{1,6}(?:\.\d{1,3})?):(\d{1,7})$/;

/** The format is `<tokens per second>:<burst>`. */
export const RateLimit = z
  .string()
  .regex(rateLimitPattern, { error: "must be <tokens per second>:<burst>" })
  .transform((text) => {
    const [tokensPerSecond = "", burst = ""] = text.split(":");
    return { tokensPerSecond: Number(tokensPerSecond), burst: Number(burst) };
  })
  .refine((limit) => limit.tokensPerSecond > 0 && limit.burst >= 1, {
    error: "both numbers must be greater than 0",
  });
export type RateLimit = z.output<typeof RateLimit>;

/** A comma-separated list. Whitespace around entries is removed. */
export const CommaList = z.string().transform((text) =>
  text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== ""),
);

const tokenCharactersMin = 16;

/**
 * Comma-separated secrets of at least 16 characters each. The first one is used for requests to
 * other services. All are accepted from callers.
 */
export const TokenList = CommaList.refine((tokens) => tokens.length > 0, {
  error: "is empty",
}).refine((tokens) => tokens.every((token) => token.length >= tokenCharactersMin), {
  error: `each value must have at least ${tokenCharactersMin} characters`,
});

/**
 * `1`, `true` or `yes` enable the flag. `0`, `false` or `no` disable it. Any other value is an
 * error.
 */
export const BooleanFlag = z
  .enum(["0", "1", "true", "false", "yes", "no"])
  .transform((value) => value === "1" || value === "true" || value === "yes");
