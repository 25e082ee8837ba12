import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import {
  apiErrorCodes,
  loadCatalogue,
  validationMessages,
  webhookTypes,
} from "@payment-links/contracts";
import { docsDirectory } from "@payment-links/docs";
import { bitcoinSettings } from "../packages/chains/src/bitcoin/reads/bitcoin-settings.ts";
import { evmSettings } from "../packages/chains/src/evm/reads/evm-settings.ts";
import type { ChainSettings } from "../packages/chains/src/reads/chain-settings.ts";
import { solanaSettings } from "../packages/chains/src/solana/reads/solana-settings.ts";
import { tronSettings } from "../packages/chains/src/tron/reads/tron-settings.ts";
import { apiDataFile, writeApiData } from "./docs/write-api-data.ts";
import { projectRoot } from "./rig/child.ts";

const pageBytesMax = 120 * 1024;

const pagesDirectory = join(docsDirectory, "pages");
const assetsDirectory = join(docsDirectory, "assets");
const pages = new Map(
  readdirSync(pagesDirectory)
    .filter((name) => name.endsWith(".html"))
    .map((name) => {
      const path = name === "index.html" ? "/docs" : `/docs/${name.replace(".html", "")}`;
      return [path, readFileSync(join(pagesDirectory, name), "utf8")];
    }),
);
const contentDirectory = join(projectRoot, "packages/docs/content");
const readContent = (name: string): string => readFileSync(join(contentDirectory, name), "utf8");

const listIds = (html: string): string[] =>
  [...html.matchAll(/ id="([^"]+)"/g)].map(([, id = ""]) => id);

describe("the docs", () => {
  test("have a page for each file, and each file is in the navigation", () => {
    const names = readdirSync(contentDirectory).map((name) => name.replace(".md", ".html"));
    expect(names.length).toBeGreaterThan(12);
    const builtNames = readdirSync(pagesDirectory).filter((name) => name.endsWith(".html"));
    expect(builtNames.toSorted()).toEqual(names.toSorted());
  });

  test("have no link or anchor that does not resolve (rule DOCS-2)", () => {
    const ids = new Map([...pages].map(([path, html]) => [path, new Set(listIds(html))]));
    /** Paths of this service that are not pages of the docs. */
    const otherPaths = new Set(["/console", "/favicon.svg"]);
    const brokenLinks: string[] = [];
    let linkCount = 0;
    for (const [path, html] of pages) {
      for (const [, href = ""] of html.matchAll(/ href="([^"]+)"/g)) {
        linkCount += 1;
        const [target = "", anchor] = href.split("#");
        if (/^https?:/.test(target) || otherPaths.has(target)) continue;
        const isAsset = target.startsWith("/docs/assets/");
        const targetIds = ids.get(target === "" ? path : target);
        const isResolved = isAsset
          ? readdirSync(assetsDirectory).includes(target.replace("/docs/assets/", ""))
          : targetIds !== undefined &&
            (anchor === undefined || targetIds.has(decodeURIComponent(anchor)));
        if (!isResolved) brokenLinks.push(`${path}: ${href}`);
      }
    }
    expect(linkCount).toBeGreaterThan(300);
    expect(brokenLinks).toEqual([]);
  });

  test("use each id only once per page", () => {
    for (const [path, html] of pages) {
      const ids = listIds(html);
      expect([path, ids.length]).toEqual([path, new Set(ids).size]);
    }
  });

  test("have an entry for every error code and every webhook type (rule DOCS-2)", () => {
    const errorIds = listIds(pages.get("/docs/errors") ?? "");
    const codes = [...apiErrorCodes, ...Object.keys(validationMessages)];
    expect(codes.length).toBeGreaterThan(90);
    expect(codes.filter((code) => !errorIds.includes(code))).toEqual([]);
    const eventIds = listIds(pages.get("/docs/events") ?? "");
    expect(webhookTypes.filter((type) => !eventIds.includes(type))).toEqual([]);
    const eventsPage = readContent("events.md");
    for (const type of webhookTypes) {
      expect(eventsPage).toContain(`<!-- webhook ${type} -->`);
      expect(eventsPage).toContain(`[\`${type}\`](#${type})`);
    }
  });

  test("show the API as the services' code describes it (`npm run generate`)", () => {
    expect(readFileSync(join(projectRoot, apiDataFile), "utf8")).toBe(writeApiData());
  });

  test("contain no inline style or script, and load nothing from another host (rule DOCS-1)", () => {
    for (const [path, html] of pages) {
      const found = html.match(/ style=|<style|<script(?! type="module" src="\/docs\/)|\bon\w+="/g);
      expect([path, found]).toEqual([path, null]);
      const loaded = [...html.matchAll(/<(?:img|script|link)[^>]* (?:src|href)="([^"]+)"/g)];
      const foreign = loaded.map(([, url = ""]) => url).filter((url) => !url.startsWith("/"));
      expect([path, foreign]).toEqual([path, []]);
    }
  });

  test("are at most 120 KiB per page, compressed, with the search (rule DOCS-1)", () => {
    const sumBytes = (directory: string, names: readonly string[]): number =>
      names.reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
    const assetBytes = sumBytes(
      assetsDirectory,
      readdirSync(assetsDirectory).filter((name) => name.endsWith(".gz")),
    );
    const pageNames = readdirSync(pagesDirectory).filter((name) => name.endsWith(".gz"));
    for (const name of pageNames) {
      const bytes = assetBytes + sumBytes(pagesDirectory, [name]);
      expect([name, bytes <= pageBytesMax]).toEqual([name, true]);
    }
  });

  test("say when payments settle on each chain", () => {
    const rows = [...readContent("going-live.md").matchAll(/^\| (.+?) \| `(.+?)` \| (.+?) \|/gm)];
    const documented = rows.map(([, name, id, policy]) => `${name}, ${id}: ${policy}`);
    const { chains } = loadCatalogue();
    const expected = chains
      .filter(({ id }) => id !== "31337" && !id.startsWith("local-"))
      .map(
        ({ chainType, id, name }) =>
          `${name}, ${id}: ${describePolicy(getSettings(chainType, id))}`,
      );
    expect(documented.toSorted()).toEqual(expected.toSorted());
  });
});

const settingsByFamily = {
  EVM: evmSettings,
  SVM: solanaSettings,
  TVM: tronSettings,
  BVM: bitcoinSettings,
} as const;

const getSettings = (chainType: keyof typeof settingsByFamily, id: string): ChainSettings =>
  settingsByFamily[chainType](id);

const describePolicy = ({ finality, finalityByAmount = [] }: ChainSettings): string => {
  if (typeof finality === "string") return `\`${finality}\``;
  const count = (blocks: number) => `${blocks + 1} block${blocks === 0 ? "" : "s"}`;
  return [
    count(finality.blocks),
    ...finalityByAmount.map(({ blocks, from }) => `from ${from.toFixed()} BTC ${count(blocks)}`),
  ].join("; ");
};
