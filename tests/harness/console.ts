import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

const NARROW = { width: 400, height: 800 };
const WIDE = { width: 1280, height: 900 };
const FOUND_WITHIN_MS = 30_000;
const PICTURES = fileURLToPath(new URL('../../docs/console/', import.meta.url));

/** What a browser said that it should not have: errors, also of the page's policy. */
const complaints = new WeakMap<BrowserContext, string[]>();

/** A browser of somebody who signed in with a key, at an address of the console. Each has a session of its own. */
export async function signedIn(
  browser: Browser,
  base: string,
  key: string,
  path = '/',
  options: BrowserContextOptions = {},
): Promise<Page> {
  const page = await visitor(browser, base, path, options);
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  return page;
}

/** A browser of somebody who has not signed in. */
export async function visitor(
  browser: Browser,
  base: string,
  path = '/',
  options: BrowserContextOptions = {},
): Promise<Page> {
  const context = await browser.newContext({
    viewport: WIDE,
    baseURL: base,
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    colorScheme: 'light',
    ...options,
  });
  const said: string[] = [];
  complaints.set(context, said);
  const page = await context.newPage();
  page.setDefaultTimeout(FOUND_WITHIN_MS);
  page.on('pageerror', (error) => said.push(String(error)));
  page.on('console', (message) => {
    // Answers that are no success are what pages tell of; the browser says so besides.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      said.push(message.text());
  });
  await page.goto(path);
  return page;
}

/** Nothing went wrong in the browser so far, and nothing was refused by the page's policy. */
export function expectNoComplaints(page: Page): void {
  expect(complaints.get(page.context())).toEqual([]);
}

/** The page is fit for people with other means, light and dark, and nothing of it is lost at 400 pixels. */
export async function expectAccessible(page: Page): Promise<void> {
  // In one page without frames the older way sees the same, sooner.
  const axe = () => new AxeBuilder({ page }).setLegacyMode();
  expect(findings(await axe().analyze())).toEqual([]);
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(findings(await axe().withRules('color-contrast').analyze())).toEqual([]);
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize(NARROW);
  const width = await page.evaluate('document.documentElement.scrollWidth');
  expect(width).toBeLessThanOrEqual(NARROW.width);
  await page.setViewportSize(WIDE);
}

/** A picture of a whole page, or of a part of it, for the documents, if `WAYBILL_CONSOLE_PICTURES` is set. */
export async function picture(of: Page | Locator, name: string): Promise<void> {
  if (!process.env.WAYBILL_CONSOLE_PICTURES) return;
  await mkdir(PICTURES, { recursive: true });
  const path = `${PICTURES}${name}.png`;
  if ('goto' in of) await of.screenshot({ path, fullPage: true });
  else await of.screenshot({ path });
}

type Findings = Awaited<ReturnType<AxeBuilder['analyze']>>;

function findings({ violations }: Findings): string[] {
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}
