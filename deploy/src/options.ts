import { parseArgs } from "node:util";

/** Reads the options of `npm start -- …`; the error for a wrong one names what is allowed. */
export const parseOptions = (
  args: readonly string[],
): { isDevnetEnabled: boolean } | { fault: string } => {
  try {
    const options = { "no-devnet": { type: "boolean", default: false } } as const;
    const { values } = parseArgs({ args: [...args], options });
    return { isDevnetEnabled: !values["no-devnet"] };
  } catch (error) {
    const reason = error instanceof Error ? error.message : "The options are wrong.";
    return { fault: `${reason}\nusage: npm start [-- --no-devnet]` };
  }
};
