import ChartColumn from '@lucide/svelte/icons/chart-column';
import Plug from '@lucide/svelte/icons/plug';
import Activity from '@lucide/svelte/icons/scroll-text';
import Search from '@lucide/svelte/icons/search';
import Settings from '@lucide/svelte/icons/settings';
import Table from '@lucide/svelte/icons/table-2';
import type { Api } from '../api.ts';
import { ActivityController } from '../features/activity/activity.svelte.ts';
import { BatchController } from '../features/batch/batch.svelte.ts';
import { ConnectionsController } from '../features/connections/connections.svelte.ts';
import { LookupController } from '../features/lookup/lookup.svelte.ts';
import { ReportsController } from '../features/reports/reports.svelte.ts';
import { SettingsController } from '../features/settings/settings.svelte.ts';
import { StartController } from '../features/start/start.svelte.ts';
import type { AppStore } from '../app-store.svelte.ts';

/** The rail, in its order; Ctrl and the position go there. */
export const places = [
  { id: 'lookup', label: 'Lookup', icon: Search },
  { id: 'batch', label: 'Batch', icon: Table },
  { id: 'reports', label: 'Reports', icon: ChartColumn },
  { id: 'activity', label: 'Activity', icon: Activity },
  { id: 'connections', label: 'Connections', icon: Plug },
  { id: 'settings', label: 'Settings', icon: Settings },
] as const;

export type Place = (typeof places)[number]['id'];

/** One controller a place; they outlive their pages, so that going elsewhere and back loses nothing. */
export function createWork(app: AppStore, go: (place: Place) => void) {
  const batch = new BatchController(app);
  const lookup = new LookupController(app, (source) => {
    void batch.open(source);
    go('batch');
  });
  return {
    start: new StartController(app, () => {
      go('lookup');
    }),
    lookup,
    batch,
    reports: new ReportsController(app, (retry) => {
      if (retry.page === 'lookup') void lookup.tryAgain(retry);
      else if (retry.page === 'batch') batch.tryAgain(retry);
      go(retry.page);
    }),
    activity: new ActivityController(app),
    connections: new ConnectionsController(app),
    settings: new SettingsController(app),
  };
}

const EVERY_MS = 10_000;

/** Tells main that someone is there, at most every ten seconds; main counts the idle time. Returns the stop. */
export function activityReports(api: Api): () => void {
  let last = 0;
  const seen = (): void => {
    const now = Date.now();
    if (now - last < EVERY_MS) return;
    last = now;
    void api.call('lock.active', {});
  };
  const kinds = ['keydown', 'pointerdown', 'pointermove', 'wheel'] as const;
  for (const kind of kinds) addEventListener(kind, seen, { passive: true, capture: true });
  return () => {
    for (const kind of kinds) removeEventListener(kind, seen, { capture: true });
  };
}
