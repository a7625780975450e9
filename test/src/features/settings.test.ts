import { describe, expect, it } from 'vitest';
import { SettingsController } from '../../../src/features/settings/settings.svelte.ts';
import * as data from '../support/fake-data.ts';
import { openApp } from '../support/open-app.ts';

describe('settings', () => {
  it('shows what main reports back, and keeps at least one reason', async () => {
    const { app, api } = await openApp();
    const page = new SettingsController(app, api);
    await page.change({ revealSeconds: 10 });
    expect(app.state?.settings.revealSeconds).toBe(10);
    for (const reason of data.settings.reasons) await page.removeReason(reason);
    expect(app.state?.settings.reasons).toHaveLength(1);
  });

  it('shows what was seen in clear today', async () => {
    const { app, api } = await openApp();
    const figures = await new SettingsController(app, api).disclosures();
    expect(figures).toMatchObject({ reveals: 4, limits: { reveals: null, expressions: 3 } });
  });

  it('shows the diagnostics before they are saved', async () => {
    const { app, api } = await openApp();
    const page = new SettingsController(app, api);
    expect(await page.diagnostics()).toContain('keyring: ready');
    expect(await page.saveDiagnostics()).toBe('tokendesk-diagnostics-2026-11-21.txt');
    expect(page.diagnosticsFailure).toBeNull();
  });

  it('says why everything can’t be removed from here', async () => {
    const { app, api } = await openApp();
    const page = new SettingsController(app, api);
    await page.removeEverything();
    expect(page.wipeFailure?.code).toBe('wipe.unavailable');
  });

  it('keeps the old value when a change is refused', async () => {
    const { app, api } = await openApp();
    const page = new SettingsController(app, api);
    await page.change({ revealSeconds: 1 });
    expect(page.failure?.code).toBe('call.invalid');
    expect(app.state?.settings.revealSeconds).toBe(20);
  });
});
