import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type axe from "axe-core";
import type { Page } from "playwright-core";

// The minified build is half the size of the package's `source` export.
const axeSource = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");

/** Returns the number of pixels by which the page is wider than its window. */
export const measureOverflow = (page: Page): Promise<number> =>
  page.evaluate<number>(
    "document.documentElement.scrollWidth - document.documentElement.clientWidth",
  );

/** Returns the accessibility violations of a page, and whether it is wider than its window. */
export const findLayoutFaults = async (page: Page): Promise<string[]> => {
  const overflow = await measureOverflow(page);
  const violations = await findAxeViolations(page);
  return overflow === 0 ? violations : [...violations, `the page is ${overflow} px too wide`];
};

/**
 * Returns the accessibility violations that axe-core finds, each with its rule and element. Runs
 * all rules or only the given ones.
 */
export const findAxeViolations = async (
  page: Page,
  rules?: readonly string[],
): Promise<string[]> => {
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axeSource);
  const options = JSON.stringify({
    resultTypes: ["violations"],
    ...(rules === undefined ? {} : { runOnly: rules }),
  });
  const violations = await page.evaluate<axe.Result[]>(
    `axe.run(${options}).then(({ violations }) => violations)`,
  );
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
};
