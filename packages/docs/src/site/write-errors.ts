import {
  type ApiErrorCode,
  type ValidationCode,
  apiErrorCodes,
  createApiError,
  getApiErrorStatus,
  validationMessages,
} from "@payment-links/contracts";
import { apiErrorAdvice, validationAdvice } from "./error-advice.ts";

/** Writes the entries of a group of error codes: `validation` or a group of the API's codes. */
export const writeErrors = (group: string): string => {
  const entries =
    group === "validation"
      ? (Object.keys(validationMessages) as ValidationCode[]).map((code) =>
          writeEntry(code, 422, validationMessages[code], {
            ...validationAdvice[code],
            retry: "No.",
          }),
        )
      : apiErrorCodes
          .filter((code) => apiErrorAdvice[code].group === group)
          .map((code) =>
            writeEntry(code, getApiErrorStatus(code), getMessage(code), apiErrorAdvice[code]),
          );
  if (entries.length === 0) throw new Error(`no error code belongs to the group ${group}`);
  return entries.join("\n\n");
};

const getMessage = (code: ApiErrorCode): string => createApiError(code).entries[0]?.message ?? "";

type Advice = { cause: string; fix: string; retry: string };

const writeEntry = (
  code: string,
  status: number,
  message: string,
  { cause, fix, retry }: Advice,
): string =>
  [`### \`${code}\``, `**${status}** ${message}`, `${cause} ${fix}`, `*Retry:* ${retry}`].join(
    "\n\n",
  );
