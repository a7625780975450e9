import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';

/** What other colours can break. To all other rules a page is the same in any. */
const colourRules = ['color-contrast', 'link-in-text-block'];

export interface AxeOptions {
  /** Where the same page was checked in other colours. */
  readonly coloursOnly?: boolean;
  /** A selector of parts that were checked already, just as they are now. */
  readonly except?: string;
}

/**
 * What axe finds. It runs in the page, where the policy allows no script of others: it goes in by the debugging protocol,
 * and once, since to load it takes as long as a check.
 */
export async function axeViolations(
  page: Page,
  { coloursOnly = false, except = '' }: AxeOptions = {},
): Promise<string[]> {
  const isLoaded = await page.evaluate<boolean>('"axe" in globalThis');
  const axe = new AxeBuilder({ page, ...(isLoaded && { axeSource: '0' }) })
    .setLegacyMode()
    .options({ resultTypes: ['violations'] });
  if (coloursOnly) axe.withRules(colourRules);
  if (except !== '') axe.exclude(except);
  const { violations } = await axe.analyze();
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}
