import { callService } from "./call-service.ts";
import {
  type Command,
  type CommandInput,
  UsageError,
  exitCodes,
  jsonOption,
  urlOption,
} from "./command.ts";
import { writeConfig } from "./config-file.ts";
import { toPrintable } from "./format.ts";
import { PaymentLinksError } from "../errors.ts";
import { isTemporaryError } from "../send-request.ts";
import { readServiceUrl } from "./settings.ts";

type StartedSignIn = {
  deviceCode: string;
  userCode: string;
  verificationUrl: string;
  intervalSeconds: number;
  expiresInSeconds: number;
};

type SignInResult =
  | { status: "pending" | "denied" }
  | { status: "allowed"; key: string; mode?: string; scopes: string[] };

const deviceNameCharsMax = 100;

export const login: Command = {
  name: "login",
  summary: "Sign in with your browser, and store an API key for this computer.",
  details:
    "Shows a code that you enter in the console. After you have allowed the sign-in there, the account has a new API key with the name of this computer. The key is stored in the file `payment-links/config.json` in XDG_CONFIG_HOME (default: ~/.config), which only you can read.",
  options: {
    name: {
      type: "string",
      placeholder: "NAME",
      description: "The name of the API key. Default: the name of this computer.",
    },
    test: {
      type: "boolean",
      description: "Ask for a key of test mode, which creates links without real money.",
    },
    url: urlOption,
    json: jsonOption,
  },
  run: async (input) => {
    const { terminal } = input;
    const url = await readServiceUrl(input);
    const signIn = (await callService({
      url,
      method: "POST",
      path: "/command/sign-ins",
      body: { deviceName: getDeviceName(input), mode: input.isSet("test") ? "test" : "live" },
      signal: terminal.signal,
    })) as StartedSignIn;
    printCode(input, signIn);
    const result = await waitForResult(input, url, signIn);
    if (result.status !== "allowed") throw new Error("The sign-in was denied in the console.");
    const path = await writeConfig(terminal.env, { url, apiKey: result.key });
    const [mode = "", ...scopes] = [result.mode ?? "live", ...result.scopes].map(toPrintable);
    terminal.print(
      input.isSet("json")
        ? JSON.stringify({ type: "signed_in", url, mode, scopes, path })
        : `Signed in at ${url}. The ${mode} API key (${scopes.join(", ")}) is stored in ${path}.`,
    );
    return exitCodes.success;
  },
};

const getDeviceName = (input: CommandInput): string => {
  const name = toPrintable(input.getText("name") ?? input.terminal.hostName).trim();
  if (name === "" || name.length > deviceNameCharsMax)
    throw new UsageError(`--name must have 1 to ${deviceNameCharsMax} characters.`);
  return name;
};

const printCode = (
  input: CommandInput,
  { expiresInSeconds, userCode, verificationUrl }: StartedSignIn,
): void => {
  const { terminal } = input;
  if (input.isSet("json")) {
    terminal.print(JSON.stringify({ type: "code", userCode, verificationUrl, expiresInSeconds }));
    return;
  }
  terminal.print(
    `Open ${toPrintable(verificationUrl)} and enter this code: ${toPrintable(userCode)}`,
  );
  terminal.printNote(
    `Waiting. The code is valid for ${Math.round(expiresInSeconds / 60)} minutes.`,
  );
};

/** Polls until the user has decided. Continues after errors that a repeat can resolve. */
const waitForResult = async (
  { terminal }: CommandInput,
  url: string,
  { deviceCode, intervalSeconds }: StartedSignIn,
): Promise<SignInResult> => {
  for (;;) {
    await terminal.wait(intervalSeconds * 1_000, terminal.signal);
    const result = await pollOnce(url, deviceCode, terminal.signal);
    if (result !== undefined && result.status !== "pending") return result;
  }
};

const pollOnce = async (
  url: string,
  deviceCode: string,
  signal: AbortSignal,
): Promise<SignInResult | undefined> => {
  const path = "/command/sign-ins/poll";
  try {
    const call = { url, method: "POST", path, body: { deviceCode }, signal } as const;
    return (await callService(call)) as SignInResult;
  } catch (error) {
    if (isTemporaryError(error)) return undefined;
    if (error instanceof PaymentLinksError && error.status === 404)
      throw new Error("The code has expired. Run `payment-links login` again.", { cause: error });
    throw error;
  }
};
