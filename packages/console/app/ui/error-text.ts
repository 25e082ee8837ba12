import { ApiError } from "../api/api-error.ts";
import { CutOffError, NoRoomError } from "../api/download.ts";
import { MadeUnseenError } from "../api/make-once.ts";
import { NotProvenError } from "../api/presence.ts";
import { ToldError } from "../ceremonies/told-error.ts";
import { refusalText } from "./refusals.ts";
import { texts } from "./texts.ts";

/** What an error says to a person. */
export const errorText = (error: unknown): string => {
  if (error instanceof ToldError) return texts[error.key];
  if (error instanceof MadeUnseenError) return texts.madeUnseen;
  if (error instanceof NotProvenError) return texts.notProven;
  if (error instanceof CutOffError) return texts.cutOff;
  if (error instanceof NoRoomError) return texts.noRoom;
  if (!(error instanceof ApiError)) return texts.refused;
  if (error.status === 0) return texts.unreachable;
  if (error.status === 429) return texts.busy(error.waitSeconds);
  if (error.status >= 500) return texts.failed;
  if (error.codes.includes("NOT_FOUND")) return texts.notFound;
  if (error.codes.includes("ACCOUNT_SUSPENDED")) return texts.suspended;
  return refusalText(error.entries) || texts.refused;
};
