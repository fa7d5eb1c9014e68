/** The work of a support engineer, done in a real browser against a whole stack. */

import { buildConsole } from '@waybill/infra/console/build';
import type { Script } from '@waybill/shared/testing/receiver';
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

/** A delivery that got no answer, then a refusal, and died. Its requests are signed. @returns its id. */
async function deadDelivery(story: string): Promise<string> {
  const delivery = { timeoutMs: 1_000, maxAttempts: 2, backoff: { initialMs: 10, maxMs: 10, jitter: 0 } };
  const answers: Script = ['never', { status: 503 }, { status: 200 }];
  const { receiver } = await stack.subscribe(story, story, answers, delivery);
  await stack.api.putSubscriber(story, {
    ...{ url: receiver.url('/hook'), filter: { attributes: { story: [story] } }, delivery },
    auth: { type: 'signature' },
  });
  await stack.api.postEvents(statusEvent(story));
  const [dead] = await stack.settled(`SHP-${story}`, 1);
  expect(dead?.state).toBe('dead');
  return dead?.id ?? '';
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
    expect(await page.getByRole('button', { name: 'Delete…' }).count()).toBe(0);
    const pages = page.getByRole('navigation', { name: 'Pages' });
    expect(await pages.getByRole('link', { name: 'Audit' }).count()).toBe(0);
    await page.goto('/audit');
    await page.getByText('This page needs the role admin; this key has operator').waitFor();
    await expectAccessible(page);
    await page.goto('/retention/erasures');
    await page.getByText('Asking for one needs the role admin').waitFor();
    expect(await page.getByRole('button', { name: 'Erase…' }).count()).toBe(0);
    await leave(page);
  });

  it('with a key that only brings events is told that nothing here is for it', async () => {
    const page = await signedIn(browser, stack.api.base, stack.api.keys.ingest);
    await page.getByText('This page needs the role operator or admin; this key has ingest').waitFor();
    expect(await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').count()).toBe(0);
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
    await page.getByText(/Recorded as dead by \S+, the holder of lease .*: attempts exhausted/).waitFor();
    const trace = await second
      .getByRole('link', { name: 'Trace of attempt 2 in Jaeger' })
      .getAttribute('href');
    expect(trace).toMatch(/^http:\/\/jaeger\.example\/trace\/[0-9a-f]{32}/);
    await picture(page, 'delivery');
    await second.getByText('Headers sent').click();
    await second.getByRole('row', { name: `Idempotency-Key ${id} on record` }).waitFor();
    await second.getByRole('row', { name: /^webhook-signature .*masked secret, not kept/ }).waitFor();
    await second.getByRole('row', { name: /^webhook-timestamp \d{10}.* computed/ }).waitFor();
    await second.getByText(/held the lease from .* on, .* it ended with the result/).waitFor();
    await page
      .getByText(/Claimed by \S+, under lease/)
      .first()
      .waitFor();
    await page.getByText(/Selected by the dispatch tick of/).waitFor();
    await second.getByText('Lease, times and worker').click();
    await second.getByText(/renewed \d+ times?$/).waitFor();
    await expectAccessible(page);
    await picture(second.getByRole('region', { name: 'Headers of attempt 2' }), 'headers');

    await page.getByRole('button', { name: 'Replay' }).click();
    const dialog = page.getByRole('alertdialog');
    await dialog.getByText('The limits on attempts and time begin anew').waitFor();
    await picture(dialog, 'replay');
    await dialog.getByRole('button', { name: 'Replay' }).click();
    await page.getByRole('article', { name: 'Attempt 3' }).getByText('it was received').waitFor();
    await page.getByText(/Replayed by the key operator/).waitFor();
    expect((await stack.api.delivery(id)).state).toBe('delivered');
    await page.getByText('delivered', { exact: true }).first().waitFor();
    await page.reload();
    await page.getByRole('article', { name: 'Attempt 3' }).waitFor();
    await picture(page, 'delivered');
    await leave(page);
  });

  it('has its times in the reader’s zone, and in UTC for who points, tabs or taps', async () => {
    const id = await deadDelivery('zone');
    const { createdAt } = await stack.api.delivery(id);
    const path = `/deliveries/${id}`;
    const utc = `${createdAt.replace('T', ' ').replace('Z', '')} UTC`;
    const berlin = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium', timeZone: 'Europe/Berlin' });
    const page = await asOperator(path);
    const made = page.locator('dd', { hasText: 'by run:fan-out' }).getByRole('button');
    expect(await made.textContent()).toContain(berlin.format(new Date(createdAt)));
    await made.hover();
    await page.getByRole('tooltip').getByText(utc).waitFor();
    await page.mouse.move(0, 0);
    await page.getByRole('tooltip').waitFor({ state: 'detached' });
    await tabTo(page, (await made.textContent()) ?? '');
    const told = page.getByRole('tooltip');
    await told.getByText(utc).waitFor();
    expect(await made.getAttribute('aria-describedby')).toBe(await told.getAttribute('id'));
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await told.waitFor({ state: 'detached' });
    // No time is shown that does not tell.
    for (const time of await page.locator('time').all())
      expect(await time.locator('xpath=..').getAttribute('type')).toBe('button');
    await leave(page);

    const phone = await signedIn(browser, stack.api.base, stack.api.keys.operator, path, { hasTouch: true });
    await phone.locator('dd', { hasText: 'by run:fan-out' }).getByRole('button').tap();
    await phone.getByRole('tooltip').getByText(utc).waitFor();
    await phone.getByRole('heading', { level: 1 }).tap();
    await phone.getByRole('tooltip').waitFor({ state: 'detached' });
    await leave(phone);
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
    // The focus comes back a moment after the dialog has gone.
    await eventually(async () => expect(await focused(page)).toBe('Replay'));
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

describe('a subscriber that leaves', () => {
  it('is deleted by who may, told first how many deliveries that cancels', async () => {
    await stack.subscribe('leaving', 'leaving', [{ status: 410 }]);
    await stack.api.postEvents(statusEvent('leaving'));
    await stack.settled('SHP-leaving', 1);
    const owed = [1, 2].map((n) => `SHP-leaving-${n}`);
    for (const shipmentId of owed) await stack.api.postEvents(statusEvent('leaving', { shipmentId }));
    for (const shipmentId of owed)
      await eventually(async () => expect(await stack.api.deliveries({ shipmentId })).toHaveLength(1));
    const page = await asAdmin('/subscribers/leaving');
    await page.getByRole('button', { name: 'Delete…' }).click();
    const dialog = page.getByRole('alertdialog', { name: 'Delete subscriber leaving?' });
    await dialog.getByText('2 deliveries that it is still owed are cancelled').waitFor();
    await expectAccessible(page);
    const remove = dialog.getByRole('button', { name: 'Delete for good' });
    expect(await remove.isDisabled()).toBe(true);
    await dialog.getByLabel('Type its id to confirm').fill('leaving');
    await remove.click();
    await page.getByRole('heading', { name: 'Subscribers' }).waitFor();
    for (const shipmentId of owed) {
      const [delivery] = await stack.settled(shipmentId, 1);
      expect([delivery?.state, delivery?.reason]).toEqual(['cancelled', 'subscriber_removed']);
    }
    await page.goBack();
    await page.getByRole('heading', { name: 'There is no such subscriber' }).waitFor();
    await page.getByRole('link', { name: 'Who changed it' }).click();
    await page
      .getByRole('row', { name: /admin \(admin\) deleteSubscriber.* subscribers\/leaving done/ })
      .waitFor();
    await leave(page);
  });
});

describe('the audit log', () => {
  it('says who did what, by key, action and target, in pages', async () => {
    await stack.subscribe('audited', 'audited');
    const operator = await asOperator('/subscribers/audited');
    await operator.getByRole('button', { name: 'Disable' }).click();
    await operator.getByRole('alertdialog').getByRole('button', { name: 'Disable' }).click();
    await operator.getByText('disabled', { exact: true }).waitFor();
    await leave(operator);
    const actor = { key: 'nightly', role: 'admin' };
    const made = Array.from({ length: 60 }, (_, n) => ({
      ...{ _id: `paged-${n}`, actor, action: 'fireTick', target: 'ticks/retention' },
      ...{ parameters: { job: 'retention' }, at: new Date(Date.UTC(2026, 0, 1, 0, 0, n)) },
    }));
    await stack.db.collection<{ _id: string }>('audit_log').insertMany(made);

    const page = await asAdmin('/audit');
    await page.getByLabel('Of what').fill('subscribers/audited');
    await page.getByLabel('Action').selectOption('disableSubscriber');
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page
      .getByRole('row', { name: /operator \(operator\) disableSubscriber.* done HTTP 200 1 → 2/ })
      .waitFor();
    expect(new URL(page.url()).search).toBe('?target=subscribers%2Faudited&action=disableSubscriber');
    await page.reload();
    await page.getByRole('row', { name: /disableSubscriber/ }).waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
    expect(await page.getByLabel('Action').inputValue()).toBe('disableSubscriber');
    await expectAccessible(page);
    await picture(page, 'audit');
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByLabel('Key (who)').fill('nightly');
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.getByText('not recorded: it may have been done').first().waitFor();
    await page.getByRole('button', { name: 'Show older ones' }).click();
    await eventually(async () => expect(await page.getByRole('row').count()).toBe(61));
    expect(await page.getByRole('button', { name: 'Show older ones' }).count()).toBe(0);
    await page.goBack();
    await page.goBack();
    await page.getByRole('row', { name: /disableSubscriber/ }).waitFor();
    expect(await page.getByLabel('Of what').inputValue()).toBe('subscribers/audited');
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

describe('an erasure', () => {
  it('is asked for after a look at what there is, followed to its end, and found afterwards', async () => {
    await stack.subscribe('erased', 'erased');
    await stack.api.postEvents(statusEvent('erased'));
    const [delivery] = await stack.settled('SHP-erased', 1);
    const page = await asAdmin('/shipments/SHP-erased');
    await page.getByRole('link', { name: 'Erase everything of it…' }).click();
    expect(await page.getByLabel('Shipment to erase').inputValue()).toBe('SHP-erased');
    await page.getByLabel('Why').fill('request 12');
    await page.getByRole('button', { name: 'Erase…' }).click();
    const dialog = page.getByRole('alertdialog', { name: 'Erase everything of SHP-erased?' });
    await dialog.getByText('There is 1 version of it; deliveries: 1 delivered.').waitFor();
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Erase for good' }).click();
    await page.getByRole('heading', { name: 'Erasure', exact: true }).waitFor();
    await page.getByText('known by its hash only').waitFor();
    await page.getByText(/2 of 2 records deleted\./).waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'The run, and whether the ledger holds' }).click();
    await page.getByRole('button', { name: 'Verify against the ledger' }).click();
    await page.getByText('The ledger holds: 2 entries').waitFor();
    await page.getByRole('link', { name: 'Erasures' }).click();
    await page.getByLabel('Of shipment').fill('SHP-erased');
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.getByRole('row', { name: /done request 12/ }).waitFor();
    expect(new URL(page.url()).search).toBe('?shipmentId=SHP-erased');
    await expectAccessible(page);
    await picture(page, 'erasures');
    await page.goto(`/retention/proof?deliveryId=${delivery?.id}`);
    await page.getByText('It is gone, and the ledger proves it').waitFor();
    await leave(page);
  });
});

describe('sweeping', () => {
  it('is paused, limited and resumed by an operator, and whoever looks sees by whom', async () => {
    const page = await asOperator('/retention/policies');
    await page.getByRole('button', { name: 'Pause sweeping…' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Pause' }).click();
    await page.getByText('paused: nothing is deleted').waitFor();
    await page.getByRole('button', { name: 'Limit its rate…' }).click();
    const dialog = page.getByRole('alertdialog');
    await dialog.getByLabel('Records per second at most').fill('fast');
    expect(await dialog.getByRole('button', { name: 'Set' }).isDisabled()).toBe(true);
    await dialog.getByLabel('Records per second at most').fill('500');
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Set' }).click();
    await page.getByRole('link', { name: 'Runs', exact: true }).click();
    await page.getByText(/at most 500 records per second \(set by operator at/).waitFor();
    await page.getByText('paused: nothing is deleted').waitFor();
    await page.getByRole('button', { name: 'Resume sweeping' }).click();
    await page.getByRole('button', { name: 'Pause sweeping…' }).waitFor();
    const { body } = await stack.api.call<object>('operator', 'GET', '/v1/retention/sweeping');
    expect(body).toMatchObject({ paused: false, deletesPerSecond: 500, updatedBy: 'operator' });
    await stack.api.call('operator', 'PUT', '/v1/retention/sweeping', { deletesPerSecond: null });
    await leave(page);
  });
});

const DELIVERIES = /\/v1\/deliveries(\?|$)/;

describe('what goes wrong', () => {
  it.each([
    ['nobody answers', null, /^Waybill does not answer\. Is the scheduler running/],
    ['the key calls too often', 'rate_limited', /^This key calls too often; try again later: so many/],
    ['a proxy answers', 502, /^What answered is not Waybill, such as a proxy before it: 502 Bad Gateway/],
  ])('is told with a way on: %s', async (_, fault, words) => {
    const page = await asOperator('/key');
    await page.getByRole('row', { name: /Fires a slot/ }).waitFor();
    const problem = { title: 'This key calls too often; try again later', status: 429, detail: 'so many' };
    await page.route(DELIVERIES, (route) => {
      if (fault === null) return route.abort();
      if (fault === 502) return route.fulfill({ status: 502, body: '<html>' });
      const body = JSON.stringify({ ...problem, code: fault });
      return route.fulfill({ status: 429, contentType: 'application/problem+json', body });
    });
    await page.getByRole('link', { name: 'Deliveries' }).click();
    await page.getByText('Loading deliveries…').waitFor();
    await page.getByRole('alert').getByText(words).waitFor();
    await expectAccessible(page);
    await page.unroute(DELIVERIES);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await leave(page);
  });

  it('is told where live figures stay away, however open the connection looks', async () => {
    const page = await asOperator('/key');
    await page.getByRole('row', { name: /Fires a slot/ }).waitFor();
    await page.clock.install();
    await page.route('**/v1/live', () => {});
    await page.getByRole('link', { name: 'Now' }).click();
    await page.getByText('Loading how things are…').waitFor();
    await page.clock.fastForward(11_000);
    await page.getByText('Nothing comes from Waybill; trying again.').waitFor();
    await page.unroute('**/v1/live');
    await page.clock.fastForward(3_000);
    await page.getByText('Events fanned out').waitFor();
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await leave(page);
  });

  it('is told with what is wrong in the address, and nothing is tried again for nothing', async () => {
    const page = await asOperator('/deliveries?state=odd&from=yesterday');
    await page.getByRole('alert').getByText('query.state').waitFor();
    await page.getByRole('alert').getByText('query.from').waitFor();
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await leave(page);
  });

  it('with the key asks for another, and goes on where it was', async () => {
    const page = await asOperator('/deliveries?state=dead');
    await page.getByRole('heading', { name: 'Deliveries' }).waitFor();
    await page.evaluate('sessionStorage.setItem("waybill.key", "taken-away")');
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByLabel('API key').fill(stack.api.keys.operator);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Deliveries' }).waitFor();
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
    await page.getByLabel('Made from').fill('2026-07-01T00:00:00');
    await page.getByLabel('Made before').fill('2026-07-02T00:00:00');
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.getByText('No delivery matches.').waitFor();
    // Midnight is that of the reader.
    expect(new URL(page.url()).searchParams.get('from')).toBe('2026-06-30T22:00:00.000Z');
    await page.reload();
    expect(await page.getByLabel('Made before').inputValue()).toMatch(/^2026-07-02T00:00/);
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
