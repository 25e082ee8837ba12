import { type Command, exitCodes } from "./command.ts";
import { deleteConfig } from "./config-file.ts";

export const logout: Command = {
  name: "logout",
  summary: "Delete the API key that is stored on this computer.",
  details: "The key itself stays valid. Revoke it in the console under API keys.",
  options: {},
  run: async ({ terminal }) => {
    const wasStored = await deleteConfig(terminal.env);
    terminal.print(
      wasStored ? "Deleted. Revoke the key in the console under API keys." : "No key is stored.",
    );
    return exitCodes.success;
  },
};
