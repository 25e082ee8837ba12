import { type CommandInput, UsageError } from "./command.ts";
import { readConfig } from "./config-file.ts";

/** The service to call, and the key to call it with. */
export type Settings = { url: string; apiKey: string | undefined };

/**
 * Returns the service's address and the API key. A stored key is only sent to the service that
 * created it.
 */
export const readSettings = async (input: CommandInput): Promise<Settings> => {
  const { env } = input.terminal;
  const config = await readConfig(env);
  const url = parseServiceUrl(input.getText("url") ?? env["PAYMENT_LINKS_URL"] ?? config?.url);
  const storedKey = config?.url === url ? config.apiKey : undefined;
  const { PAYMENT_LINKS_API_KEY: givenKey = "" } = env;
  const apiKey = givenKey === "" ? storedKey : givenKey;
  if (apiKey !== undefined && !/^[\x21-\x7e]{1,100}$/.test(apiKey))
    throw new UsageError("PAYMENT_LINKS_API_KEY is not an API key as shown in the console.");
  return { url, apiKey };
};

/** Returns the service's address, for commands that need no key. */
export const readServiceUrl = async (input: CommandInput): Promise<string> => {
  const { env } = input.terminal;
  const text = input.getText("url") ?? env["PAYMENT_LINKS_URL"];
  return parseServiceUrl(text ?? (await readConfig(env))?.url);
};

/** Like `readSettings`, for commands that need a key. */
export const readKeySettings = async (
  input: CommandInput,
): Promise<{ url: string; apiKey: string }> => {
  const { url, apiKey } = await readSettings(input);
  if (apiKey === undefined) {
    throw new UsageError(
      "There is no API key. Run `payment-links login`, or set PAYMENT_LINKS_API_KEY.",
    );
  }
  return { url, apiKey };
};

const parseServiceUrl = (text: string | undefined): string => {
  if (text === undefined || text === "") {
    throw new UsageError(
      "There is no service. Set PAYMENT_LINKS_URL or --url, such as --url https://pay.example.com.",
    );
  }
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isOrigin =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    `${url.pathname}${url.search}${url.hash}${url.username}${url.password}` === "/";
  if (!isOrigin)
    throw new UsageError("The URL must be an origin, such as https://pay.example.com.");
  return url.origin;
};
