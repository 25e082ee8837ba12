import { describe, expect, test } from "@jest/globals";
import { evmErrorResponses, tronErrorResponses } from "../testing/wallet-error-responses.ts";

type WalletErrors = {
  classifyWalletError: (error: unknown) => string;
  nothingSentKinds: ReadonlySet<string>;
};

const module = import.meta.resolve("@payment-links/chains/browser-wallets/wallet-errors.js");
const { classifyWalletError, nothingSentKinds } = (await import(module)) as WalletErrors;

const shorten = (error: unknown): string => JSON.stringify(error).slice(0, 120);

describe("a wallet's error has the kind that the wallet's own sources document (rule CALLER-30)", () => {
  test.each(
    [...evmErrorResponses, ...tronErrorResponses].map(
      (response) => [response.wallet, response.method, shorten(response.error), response] as const,
    ),
  )("%s, to %s: %s", (_wallet, _method, _error, { error, kind, source }) => {
    expect(source).toMatch(/^[^#]+$|#\d+ \(\d{4}-\d\d-\d\d\)$/);
    expect(classifyWalletError(error)).toBe(kind);
  });
});

describe("finds the cause of an error wherever it is:", () => {
  const rejectedError = { code: 4001, message: "" };
  const circular: { code: number; cause?: unknown } = { code: -32603 };
  circular.cause = circular;

  test.each<[string, unknown, string]>([
    ["in data", { code: -32603, data: rejectedError }, "rejected"],
    ["in data.originalError", { code: -32603, data: { originalError: rejectedError } }, "rejected"],
    ["in data.cause", { code: -32603, data: { cause: rejectedError } }, "rejected"],
    ["in a cause of a cause", { cause: { code: -32603, cause: rejectedError } }, "rejected"],
    ["as JSON in data.message", { data: { message: '{"code":4902}' } }, "networkMissing"],
    ["as JSON after text", { message: 'RPC error: {"code":4902}' }, "networkMissing"],
    ["as a code in a string", { code: "4902" }, "networkMissing"],
    ["as a thrown string", "User denied transaction signature", "rejected"],
    ["nowhere, in a text in another language", "Blockchain nicht unterstützt", "unknown"],
    ["nowhere, in broken JSON", { message: '{"code":4902' }, "unknown"],
    ["nowhere, in an error that contains itself", circular, "unknown"],
    ["nowhere, with undefined thrown", undefined, "unknown"],
    ["nowhere, in null", null, "unknown"],
    ["nowhere, in a number", 4001, "unknown"],
    ["not in an empty code", { code: "", message: "" }, "unknown"],
  ])("%s", (_where, error, kind) => {
    expect(classifyWalletError(error)).toBe(kind);
  });
});

describe("never reports a payment as unsent if a node may have it:", () => {
  test.each([
    "already known",
    "AlreadyKnown",
    "known transaction: 0x01",
    "OldNonce, current nonce 8",
    "request timed out",
    "RPC endpoint returned too many errors, retrying in 0.3 minutes.",
    "nonce too low",
    "nonce too low: next nonce 8, tx nonce 7",
    "replacement transaction underpriced",
    "transaction already pending",
    "transaction already imported",
    "txpool is full",
    "Request expired. Please try again.",
    "Non-200 status code: '429'",
    "Internal JSON-RPC error.",
    "socket hang up",
    "AA25 invalid account nonce",
  ])("%s", (message) => {
    for (const code of [-32000, -32003, -32010, -32603, 3]) {
      expect(nothingSentKinds.has(classifyWalletError({ code, message }))).toBe(false);
    }
    for (const code of [-32000, -32002, -32003, -32010, -32603, 3]) {
      expect(
        nothingSentKinds.has(classifyWalletError({ code: -32603, data: { code, message } })),
      ).toBe(false);
    }
  });

  test.each(["already known", "nonce too low", "replacement transaction underpriced"])(
    "%s, with any accompanying code",
    (message) => {
      for (const code of [4001, 4100, 4200, -32601, -32602, 5000, 5700]) {
        expect(classifyWalletError({ code, message })).toBe("unknown");
        expect(classifyWalletError({ code, data: { message } })).toBe("unknown");
      }
    },
  );

  test.each([-32002, -32601, -32602, -32004])(
    "a node's code (%i) inside the wallet's own error",
    (code) => {
      expect(classifyWalletError({ code: -32603, data: { code } })).toBe("unknown");
      expect(classifyWalletError({ code: -32603, data: { originalError: { code } } })).toBe(
        "unknown",
      );
    },
  );
});
