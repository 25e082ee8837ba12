import { describe, expect, test } from "@jest/globals";
import { type ApiErrorCode, createApiError, getApiErrorStatus } from "./api-error.ts";

describe("createApiError", () => {
  // The pairs of status and code that rule ERROR-2 lists.
  test.each([
    ["UNAUTHENTICATED", 401],
    ["INVALID_API_KEY", 401],
    ["EXPIRED_API_KEY", 401],
    ["INSUFFICIENT_API_SCOPE", 403],
    ["CANNOT_FIND_PAYMENT_LINK", 404],
    ["PAYMENT_LINK_ACCOUNT_NOT_READY", 409],
    ["INVALID_PAYMENT_LINK_AMOUNT", 422],
    ["429", 429],
    ["CANNOT_CREATE_PAYMENT_LINK", 500],
    ["CROSS_SITE_REQUEST", 403],
    ["NOT_FOUND", 404],
    ["METHOD_NOT_ALLOWED", 405],
    ["PAYMENT_LINK_NOT_ACTIVE", 409],
    ["IDEMPOTENCY_KEY_IN_USE", 409],
    ["WEBHOOK_ENDPOINT_LIMIT", 409],
    ["PAYLOAD_TOO_LARGE", 413],
    ["INVALID_WEBHOOK_URL", 422],
    ["IDEMPOTENCY_KEY_INVALID", 422],
    ["IDEMPOTENCY_KEY_REUSED", 422],
  ] as const satisfies readonly (readonly [ApiErrorCode, number])[])(
    "gives %s the status %i and one entry with a full sentence",
    (code, status) => {
      const apiError = createApiError(code);
      expect(apiError.status).toBe(status);
      expect(getApiErrorStatus(code)).toBe(status);
      expect(apiError.entries).toEqual([{ code, message: expect.stringMatching(/^[A-Z].*\.$/) }]);
    },
  );
});
