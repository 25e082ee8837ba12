import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { consoleOperations } from "./api/console.ts";
import { loadCatalogue } from "./catalogue.ts";
import { validationMessages } from "./validation.ts";
import {
  ChainData,
  PaymentLinkData,
  RetrievedPaymentLink,
  TokenData,
  UserData,
  UserWalletData,
} from "./payment-link.ts";

const rulesPage = readFileSync(new URL("../RULES.md", import.meta.url), "utf8");
const readSource = (file: string) => readFileSync(new URL(file, import.meta.url), "utf8");

const parseRuleTable = (rule: string): string[][] =>
  (rulesPage.split(`- **${rule.replace("rule ", "")}** `)[1] ?? "")
    .replace(/\n(?:- \*\*|#).*/s, "")
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .slice(2)
    .map((line) => line.split("|").map((cell) => cell.trim()));

const extractCodeWords = (cell = ""): string[] =>
  [...cell.matchAll(/`(\w+)`/g)].map(([, word = ""]) => word);

describe("RULES.md", () => {
  test("lists every error code under its status, and no other (rule ERROR-2)", () => {
    const documented = parseRuleTable("rule ERROR-2").flatMap(([, statuses = "", codes]) =>
      extractCodeWords(codes).map((code) => ({ code, statuses: statuses.split(", ") })),
    );
    const implemented = [...readSource("api-error.ts").matchAll(/^ {2}"?(\w+)"?: \[(\d{3}), "/gm)];
    expect(documented.map(({ code }) => code).toSorted()).toEqual(
      implemented.map(([, code = ""]) => code).toSorted(),
    );
    for (const [, code, status] of implemented) {
      expect([code, documented.find((row) => row.code === code)?.statuses]).toEqual([
        code,
        expect.arrayContaining([status]),
      ]);
    }
  });

  test("lists every validation code, and no other (rule VALID-2)", () => {
    const documented = parseRuleTable("rule VALID-2").flatMap(([, codes]) =>
      extractCodeWords(codes),
    );
    const implemented = Object.keys(validationMessages);
    expect(documented.toSorted()).toEqual(implemented.toSorted());
  });

  test("lists every field of `/v1`, in order (rule API-7)", () => {
    const rows = parseRuleTable("rule API-7");
    const documented = (shapeName: string) => {
      const [, , fields = ""] = rows.find(([, name]) => name === shapeName) ?? [];
      return extractCodeWords(fields.replaceAll(/ \([^)]*\)/g, ""));
    };
    expect(documented("link")).toEqual(Object.keys(PaymentLinkData.shape));
    expect([...documented("link"), "user"]).toEqual(Object.keys(RetrievedPaymentLink.shape));
    expect(documented("`token`")).toEqual(Object.keys(TokenData.shape));
    expect(documented("`chain`")).toEqual(Object.keys(ChainData.shape));
    expect(documented("`user`")).toEqual(Object.keys(UserData.shape));
    expect(documented("`wallet`")).toEqual(Object.keys(UserWalletData.shape));
  });

  test("lists the first path segment of every console operation (rule CALLER-6)", () => {
    const documented = parseRuleTable("rule CALLER-6").flatMap(([, names = ""]) =>
      [...names.matchAll(/`([\w.-]+)`/g)].map(([, name = ""]) => name),
    );
    const servedNames = consoleOperations({ catalogue: loadCatalogue(), now: () => new Date() })
      .map(({ path }) => /^\/console\/api\/([^/]+)/.exec(path)?.[1])
      .filter((name) => name !== undefined);
    expect(documented.toSorted()).toEqual([...new Set(servedNames)].toSorted());
  });
});
