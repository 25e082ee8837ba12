import { parseArgs } from "node:util";

/** Parses the options of `npm start -- …`. If an option is invalid, the error shows the usage. */
export const parseOptions = (
  args: readonly string[],
): { isDevnetEnabled: boolean } | { fault: string } => {
  try {
    const options = { "no-devnet": { type: "boolean", default: false } } as const;
    const { values } = parseArgs({ args: [...args], options });
    return { isDevnetEnabled: !values["no-devnet"] };
  } catch (error) {
    const reason = error instanceof Error ? error.message : "The options are invalid.";
    return { fault: `${reason}\nusage: npm start [-- --no-devnet]` };
  }
};
