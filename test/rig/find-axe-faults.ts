import axe from "axe-core";
import type { Page } from "playwright-core";

/**
 * What axe-core finds wrong for people with other senses and hands, as rule and element: by all of its
 * rules, or only some.
 */
export const findAxeFaults = async (page: Page, rules?: readonly string[]): Promise<string[]> => {
  await page.evaluate(axe.source);
  const options = rules === undefined ? "{}" : JSON.stringify({ runOnly: rules });
  const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(${options})`);
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
};
