import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { consoleOperations } from "./api/console.ts";
import { openCatalogue } from "./catalogue.ts";
import { validationMessages } from "./validation.ts";
import {
  ChainData,
  PaymentLinkData,
  RetrievedPaymentLink,
  TokenData,
  UserData,
  UserWalletData,
} from "./payment-link.ts";

const page = readFileSync(new URL("../RULES.md", import.meta.url), "utf8");
const source = (file: string) => readFileSync(new URL(file, import.meta.url), "utf8");

const rowsBehind = (rule: string): string[][] =>
  (page.split(`- **${rule.replace("rule ", "")}** `)[1] ?? "")
    .replace(/\n(?:- \*\*|#).*/s, "")
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .slice(2)
    .map((line) => line.split("|").map((cell) => cell.trim()));

const wordsIn = (cell = ""): string[] =>
  [...cell.matchAll(/`(\w+)`/g)].map(([, word = ""]) => word);

describe("the page of rules", () => {
  test("names every refusal under its status, and no other (rule ERROR-2)", () => {
    const told = rowsBehind("rule ERROR-2").flatMap(([, statuses = "", codes]) =>
      wordsIn(codes).map((code) => ({ code, statuses: statuses.split(", ") })),
    );
    const made = [...source("refusal.ts").matchAll(/^ {2}"?(\w+)"?: \[(\d{3}), "/gm)];
    expect(told.map(({ code }) => code).toSorted()).toEqual(
      made.map(([, code = ""]) => code).toSorted(),
    );
    for (const [, code, status] of made) {
      expect([code, told.find((row) => row.code === code)?.statuses]).toEqual([
        code,
        expect.arrayContaining([status]),
      ]);
    }
  });

  test("names every validation code, and no other (rule VALID-2)", () => {
    const told = rowsBehind("rule VALID-2").flatMap(([, codes]) => wordsIn(codes));
    const made = Object.keys(validationMessages);
    expect(told.toSorted()).toEqual(made.toSorted());
  });

  test("names every field of `/v1`, in order (rule API-7)", () => {
    const rows = rowsBehind("rule API-7");
    const told = (shape: string) => {
      const [, , fields = ""] = rows.find(([, name]) => name === shape) ?? [];
      return wordsIn(fields.replaceAll(/ \([^)]*\)/g, ""));
    };
    expect(told("link")).toEqual(Object.keys(PaymentLinkData.shape));
    expect([...told("link"), "user"]).toEqual(Object.keys(RetrievedPaymentLink.shape));
    expect(told("`token`")).toEqual(Object.keys(TokenData.shape));
    expect(told("`chain`")).toEqual(Object.keys(ChainData.shape));
    expect(told("`user`")).toEqual(Object.keys(UserData.shape));
    expect(told("`wallet`")).toEqual(Object.keys(UserWalletData.shape));
  });

  test("names what each call of the console begins with (rule CALLER-6)", () => {
    const told = rowsBehind("rule CALLER-6").flatMap(([, names = ""]) =>
      [...names.matchAll(/`([\w.-]+)`/g)].map(([, name = ""]) => name),
    );
    const served = consoleOperations({ catalogue: openCatalogue(), now: () => new Date() })
      .map(({ path }) => /^\/console\/api\/([^/]+)/.exec(path)?.[1])
      .filter((name) => name !== undefined);
    expect(told.toSorted()).toEqual([...new Set(served)].toSorted());
  });
});
