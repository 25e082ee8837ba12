import { ApiError } from "../api/api-error.ts";
import { TruncatedDownloadError, InsufficientStorageError } from "../api/download.ts";
import { LostSecretError } from "../api/duplicate-guard.ts";
import { PresenceDeclinedError } from "../api/presence.ts";
import { UserFacingError } from "../ceremonies/user-facing-error.ts";
import { getApiErrorText } from "./api-error-messages.ts";
import { texts } from "./texts.ts";

/** Returns the text for an error that is shown to the user. */
export const getErrorText = (error: unknown): string => {
  if (error instanceof UserFacingError) return texts[error.key];
  if (error instanceof LostSecretError) return texts.secretLost;
  if (error instanceof PresenceDeclinedError) return texts.presenceDeclined;
  if (error instanceof TruncatedDownloadError) return texts.downloadTruncated;
  if (error instanceof InsufficientStorageError) return texts.insufficientStorage;
  if (!(error instanceof ApiError)) return texts.requestFailed;
  if (error.status === 0) return texts.unreachable;
  if (error.status === 429) return texts.rateLimited(error.retryAfterSeconds);
  if (error.status >= 500) return texts.serverError;
  if (error.codes.includes("NOT_FOUND")) return texts.notFound;
  if (error.codes.includes("ACCOUNT_SUSPENDED")) return texts.accountSuspended;
  return getApiErrorText(error.entries) || texts.requestFailed;
};
