import { describe, expect, it } from 'vitest';
import { ActivityController } from '../../../src/features/activity/activity.svelte.ts';
import { openApp } from '../support/open-app.ts';

describe('the activity page', () => {
  it('lists each act once, and loads earlier pages without gaps', async () => {
    const { app, api } = await openApp();
    const log = new ActivityController(app, api);
    await log.load();
    expect(log.entries).toHaveLength(200);
    await log.earlier();
    expect(log.entries.map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: 240 }, (_, n) => 239 - n),
    );
    expect(log.more).toBe(false);
    expect(log.shown.length).toBeLessThan(log.entries.length);
    log.everyLine = true;
    expect(log.shown).toHaveLength(240);
  });

  it('shows that the chain is broken', async () => {
    const { app, api } = await openApp({ fail: { 'activity.list': { code: 'audit.broken', row: 118 } } });
    const log = new ActivityController(app, api);
    await log.load();
    expect(log.failure?.code).toBe('audit.broken');
  });
});
