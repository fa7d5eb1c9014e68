/** The work of a support engineer, done in a real browser against a whole stack. */

import { buildConsole } from '@waybill/infra/console/build';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startBrowser } from '../harness/browser.ts';
import { expectAccessible, expectNoComplaints, picture, signedIn, visitor } from '../harness/console.ts';
import { Retention } from '../harness/retention.ts';
import { statusEvent } from '../harness/scenario.ts';
import { startTestStack, type TestStack } from '../harness/stack.ts';
import { eventually } from '../harness/waiting.ts';

const EXPIRED = new Date('2025-01-01T00:00:00Z');

let stack: TestStack;
let browser: Browser;

beforeAll(async () => {
  const [started, launched] = await Promise.all([
    // What was owed to somebody in quarantine is looked at again when its command's time is over: LEASE_MS.
    startTestStack({ env: { WAYBILL_JAEGER_URL: 'http://jaeger.example', LEASE_MS: '5000' } }),
    startBrowser(),
    buildConsole(() => {}),
  ]);
  stack = started;
  browser = launched;
}, 300_000);
afterAll(async () => {
  await browser?.close();
  await stack?.[Symbol.asyncDispose]();
});

const asOperator = (path: string) => signedIn(browser, stack.api.base, stack.api.keys.operator, path);
const asAdmin = (path: string) => signedIn(browser, stack.api.base, stack.api.keys.admin, path);

async function leave(page: Page): Promise<void> {
  expectNoComplaints(page);
  await page.context().close();
}

/** A delivery that got no answer, then a refusal, and died. @returns its id. */
async function deadDelivery(story: string): Promise<string> {
  await stack.subscribe(story, story, ['never', { status: 503 }, { status: 200 }], {
    timeoutMs: 1_000,
    maxAttempts: 2,
    backoff: { initialMs: 10, maxMs: 10, jitter: 0 },
  });
  await stack.api.postEvents(statusEvent(story));
  const [delivery] = await stack.settled(`SHP-${story}`, 1);
  expect(delivery?.state).toBe('dead');
  return delivery?.id ?? '';
}

describe('who signs in', () => {
  it('is asked for a key that the API knows, wherever the address leads', async () => {
    const page = await visitor(browser, stack.api.base, '/deliveries?state=dead');
    await page.getByLabel('API key').fill('nobody-has-this-key');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('This key is not known here.').waitFor();
    await page.getByText('What each role may do').click();
    await page.getByRole('row', { name: /Adds a version of a policy/ }).waitFor();
    await page.getByText('What each role may do').click();
    await expectAccessible(page);
    await page.getByLabel('API key').fill(stack.api.keys.operator);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Deliveries' }).waitFor();
    expect(new URL(page.url()).search).toBe('?state=dead');
    expect(await page.getByLabel('State').inputValue()).toBe('dead');
    await page.reload();
    await page.getByRole('heading', { name: 'Deliveries' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API key').waitFor();
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
    await leave(page);
  });

  it('is told what the key may not do', async () => {
    await stack.subscribe('told', 'told');
    const page = await asOperator('/subscribers/told');
    await page.getByText('needs the role admin; this key has operator').first().waitFor();
    expect(await page.getByRole('button', { name: 'Rotate secret' }).isDisabled()).toBe(true);
    expect(await page.getByRole('button', { name: 'Send a test' }).isDisabled()).toBe(false);
    await leave(page);
  });
});

describe('a late delivery', () => {
  it('is found, explained, replayed and seen delivered', async () => {
    const id = await deadDelivery('late');
    const page = await asOperator('/now');
    await page.getByLabel('Shipment or delivery id').fill('SHP-late');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByRole('heading', { name: 'Shipment SHP-late' }).waitFor();
    await page.getByRole('link', { name: /^Version 1 to late/ }).waitFor();
    await expectAccessible(page);
    await picture(page, 'shipment');
    await page.getByRole('link', { name: /^Version 1 to late/ }).click();

    await page.getByRole('heading', { name: 'Version 1 of SHP-late to late' }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/deliveries/${id}`);
    const first = page.getByRole('article', { name: 'Attempt 1' });
    await first
      .getByText(/The request left at [\d:.]{12} and no answer came within [\d.]+ s: late may have/)
      .waitFor();
    const second = page.getByRole('article', { name: 'Attempt 2' });
    await second.getByText(/was answered 503 after .*: late did not take it/).waitFor();
    await page.getByText(/Recorded as dead by the holder of lease .*: attempts exhausted/).waitFor();
    const trace = await second
      .getByRole('link', { name: 'Trace of attempt 2 in Jaeger' })
      .getAttribute('href');
    expect(trace).toMatch(/^http:\/\/jaeger\.example\/trace\/[0-9a-f]{32}/);
    await second.getByText('Headers sent').click();
    await second.getByRole('row', { name: `Idempotency-Key ${id}` }).waitFor();
    await second.getByText('Lease, times and worker').click();
    await second.getByText(/renewed \d+ times?/).waitFor();
    await expectAccessible(page);
    await picture(page, 'delivery');

    await page.getByRole('button', { name: 'Replay' }).click();
    const dialog = page.getByRole('alertdialog');
    await dialog.getByText('The limits on attempts and time begin anew').waitFor();
    await dialog.getByRole('button', { name: 'Replay' }).click();
    await page.getByRole('article', { name: 'Attempt 3' }).getByText('it was received').waitFor();
    await page.getByText(/Replayed by the key operator/).waitFor();
    expect((await stack.api.delivery(id)).state).toBe('delivered');
    const time = page.locator('time').first();
    expect(await time.getAttribute('title')).toMatch(/ UTC$/);
    await page.reload();
    await page.getByRole('article', { name: 'Attempt 3' }).waitFor();
    await leave(page);
  });

  it('is explained to somebody who has a keyboard only', async () => {
    await deadDelivery('keys');
    const page = await asOperator('/deliveries?subscriberId=keys');
    await page.getByRole('link', { name: 'SHP-keys v1 to keys' }).waitFor();
    await tabTo(page, 'SHP-keys v1 to keys');
    await page.keyboard.press('Enter');
    const attempt = page.getByRole('article', { name: 'Attempt 1' });
    await attempt.getByText('keys may have received it').waitFor();
    await tabTo(page, 'Headers sent');
    await page.keyboard.press('Enter');
    await attempt.getByRole('row', { name: /webhook-id/ }).waitFor();
    await page.reload();
    await attempt.waitFor();
    await tabTo(page, 'Replay');
    await page.keyboard.press('Enter');
    await page.getByRole('alertdialog').waitFor();
    // What is dangerous is never what Enter does first.
    expect(await focused(page)).toBe('Cancel');
    await page.keyboard.press('Escape');
    await page.getByRole('alertdialog').waitFor({ state: 'detached' });
    expect(await focused(page)).toBe('Replay');
    await page.keyboard.press('Enter');
    await page.getByRole('alertdialog').waitFor();
    await page.keyboard.press('Shift+Tab');
    expect(await focused(page)).toBe('Replay');
    await page.keyboard.press('Enter');
    await page.getByRole('article', { name: 'Attempt 3' }).getByText('it was received').waitFor();
    await leave(page);
  });
});

describe('a subscriber', () => {
  it('that was put in quarantine is seen to be, tested and enabled, and gets what it is owed', async () => {
    const answers = [{ status: 410 }, { status: 200 }];
    await stack.subscribe('gone', 'gone', answers, { maxAttempts: 3 });
    await stack.api.postEvents(statusEvent('gone'));
    await stack.settled('SHP-gone', 1);
    await stack.api.postEvents(statusEvent('gone', { shipmentId: 'SHP-gone-2' }));
    const page = await asOperator('/subscribers');
    await page.getByRole('row', { name: /gone in quarantine/ }).waitFor();
    await expectAccessible(page);
    await picture(page, 'subscribers');
    await page.getByRole('link', { name: 'gone', exact: true }).click();
    await page.getByText(/In quarantine since .*: gone/).waitFor();
    await page.getByText('1 owed').waitFor();
    await page.getByRole('button', { name: 'Send a test' }).click();
    await page.getByText('The endpoint accepted the request').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Enable' }).click();
    await page.getByText('open', { exact: true }).waitFor();
    const [owed] = await stack.settled('SHP-gone-2', 1);
    expect(owed?.state).toBe('delivered');
    await page.getByText('nothing is owed').waitFor();
    await leave(page);
  });

  it('is made and changed by the rules of the API, told before anything is sent', async () => {
    const page = await asAdmin('/subscribers/new');
    await page.getByLabel('Id', { exact: true }).fill('made');
    await page.getByLabel('URL').fill('http://127.0.0.1:9/hook');
    await page.getByLabel('Only statuses').fill('returned');
    await page.getByLabel('Timeout (ms)', { exact: true }).fill('5');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(/Not saved: 1 field has a fault/).waitFor();
    await expectAccessible(page);
    await page.getByLabel('Timeout (ms)', { exact: true }).fill('2000');
    await page.getByLabel('Auth').fill('{"type":"signature"}');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(/whsec_/).waitFor();
    await page.getByRole('link', { name: 'I have kept it' }).click();
    await page.getByRole('button', { name: 'Rotate secret' }).click();
    await page.getByLabel('Both valid for').selectOption({ label: 'an hour' });
    await page.getByRole('alertdialog').getByRole('button', { name: 'Rotate' }).click();
    await page.getByText(/The new secret, shown this once/).waitFor();
    await page.getByRole('button', { name: 'I have kept it' }).click();
    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByLabel('Attempts at most').fill('4');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(/at most 4, within/).waitFor();
    await leave(page);
  });
});

describe('dead letters', () => {
  it('are counted by reason, and replayed after a look at how many they are', async () => {
    await stack.subscribe('many', 'many', [...Array(3).fill({ status: 400 }), { status: 200 }], {
      concurrency: 1,
    });
    for (const n of [1, 2, 3])
      await stack.api.postEvents(statusEvent('many', { shipmentId: `SHP-many-${n}` }));
    for (const n of [1, 2, 3]) await stack.settled(`SHP-many-${n}`, 1);
    const page = await asOperator('/dead-letters');
    await page
      .getByRole('row', { name: /refused many 3/ })
      .getByRole('link')
      .click();
    await page.getByRole('link', { name: /SHP-many-3 v1 to many/ }).waitFor();
    expect(new URL(page.url()).search).toBe('?subscriberId=many&reason=refused');
    await expectAccessible(page);
    await picture(page, 'dead-letters');
    await page.getByRole('button', { name: 'Replay these…' }).click();
    const dialog = page.getByRole('alertdialog', { name: 'Replay 3 dead deliveries?' });
    await dialog.getByRole('button', { name: 'Replay' }).click();
    await page.getByText('3 deliveries are owed again.').waitFor();
    for (const n of [1, 2, 3]) {
      await eventually(async () => {
        const [delivery] = await stack.api.deliveries({ shipmentId: `SHP-many-${n}` });
        expect(delivery?.state).toBe('delivered');
      });
    }
    await page.reload();
    await page.getByText('No dead delivery matches.').waitFor();
    await leave(page);
  });
});

describe('retention', () => {
  it('leaves a shipment alone that is put on hold, and its hold can be released', async () => {
    await stack.subscribe('held', 'held');
    await stack.api.postEvents(statusEvent('held'));
    await stack.settled('SHP-held', 1);
    const page = await asAdmin('/shipments/SHP-held');
    await page.getByRole('button', { name: 'Hold this shipment' }).click();
    await page.getByLabel('Why').fill('case 4711');
    await page.getByRole('alertdialog').getByRole('button', { name: 'Hold' }).click();
    await page.getByText(/On legal hold since .*: case 4711/).waitFor();
    await page.getByRole('link', { name: 'Retention' }).click();
    await page.getByRole('link', { name: 'Holds' }).click();
    await page.getByRole('row', { name: /SHP-held case 4711/ }).waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'SHP-held' }).click();
    await page.getByRole('button', { name: 'Release the hold' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Release' }).click();
    await page.getByRole('button', { name: 'Hold this shipment' }).waitFor();
    await leave(page);
  });

  it('observes, then enforces, and a deletion is proven', async () => {
    await stack.subscribe('old', 'old');
    await stack.api.postEvents(statusEvent('old'));
    const [delivery] = await stack.settled('SHP-old', 1);
    const id = delivery?.id ?? '';
    await stack.db
      .collection('deliveries')
      .updateOne({ shipmentId: 'SHP-old' }, { $set: { closedAt: EXPIRED } });
    const retention = new Retention(stack.api);

    const page = await asAdmin('/retention/policies');
    await page.getByLabel('Id', { exact: true }).fill('month');
    await page.getByRole('button', { name: 'Observe with it' }).click();
    await page.getByRole('article', { name: /month/ }).getByText('No run has counted').waitFor();
    await retention.ended('month', await retention.tick());
    await page.reload();
    const policy = page.getByRole('article', { name: /month/ });
    await policy.getByText(/Its last run counted 1 candidate,/).waitFor();
    await expectAccessible(page);
    await picture(page, 'retention');
    await policy.getByRole('button', { name: 'Enforce…' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Enforce' }).click();
    await policy.getByText('deletes', { exact: true }).waitFor();
    expect((await retention.ended('month', await retention.tick())).deleted).toBe(1);

    await page.goto(`/deliveries/${id}`);
    await page.getByRole('link', { name: 'look for a proof' }).click();
    await page.getByText('It is gone, and the ledger proves it').waitFor();
    await page.getByText('policy month, version 2').waitFor();
    await expectAccessible(page);
    await picture(page, 'proof');
    await page.getByRole('link', { name: /^retention\.month\./ }).click();
    await page.getByRole('button', { name: 'Verify against the ledger' }).click();
    await page.getByText('The ledger holds: 1 entries for 1 deleted records').waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Runs' }).click();
    await page.getByRole('row', { name: /month v2/ }).waitFor();
    await expectAccessible(page);
    await leave(page);
  });
});

describe('now', () => {
  it('shows what happens while it happens', async () => {
    await stack.subscribe('busy', 'busy', [{ status: 200, delayMs: 300 }]);
    const page = await asOperator('/now');
    await page.getByText('Events fanned out').waitFor();
    await page.getByRole('img', { name: /Rates of the last minutes/ }).waitFor();
    const rate = page.getByText('Events fanned out').locator('xpath=../dd');
    expect(await page.getByText('Oldest due row').isVisible()).toBe(true);
    const events = Array.from({ length: 200 }, (_, n) =>
      statusEvent('busy', { shipmentId: `SHP-busy-${n}` }),
    );
    await stack.api.postEvents(events);
    // What a look counted stays in the line of the chart, whatever the next look counts.
    await eventually(
      async () => expect(Number.parseFloat((await rate.textContent()) ?? '')).toBeGreaterThan(0),
      20_000,
    );
    await expectAccessible(page);
    await picture(page, 'now');
    await leave(page);
  });
});

describe('the other pages', () => {
  it('are accessible too, and say when there is no such page', async () => {
    const page = await asAdmin('/key');
    await page.getByRole('row', { name: /Fires a slot/ }).waitFor();
    await expectAccessible(page);
    await page.goto('/deliveries');
    await page.getByRole('heading', { name: 'Deliveries' }).waitFor();
    await expectAccessible(page);
    await page.goto('/deliveries/nobody-knows-it');
    await page.getByRole('heading', { name: 'There is no such delivery' }).waitFor();
    await page.goto('/retention/nothing');
    await page.getByText('There is no such page').waitFor();
    await leave(page);
  });
});

const focused = (page: Page): Promise<string> =>
  page.evaluate('document.activeElement ? document.activeElement.textContent.trim() : ""');

/** Presses Tab until what says this has the focus. */
async function tabTo(page: Page, text: string): Promise<void> {
  for (let presses = 0; presses < 80; presses += 1) {
    await page.keyboard.press('Tab');
    if ((await focused(page)) === text) return;
  }
  throw new Error(`Tab never came to ${text}`);
}
