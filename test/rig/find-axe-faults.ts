import axe from "axe-core";
import type { Page } from "playwright-core";

/** What axe-core finds wrong for people with other senses and hands, as rule and element. */
export const findAxeFaults = async (page: Page): Promise<string[]> => {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<axe.AxeResults>("axe.run()");
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
};
