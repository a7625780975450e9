import type { Desk } from '../desk.svelte.ts';
import { ActivityController } from '../features/activity/controller.svelte.ts';
import { BatchController } from '../features/batch/controller.svelte.ts';
import { ConnectionsController } from '../features/connections/controller.svelte.ts';
import { LookupController } from '../features/lookup/controller.svelte.ts';
import { ReportsController } from '../features/reports/controller.svelte.ts';
import { SettingsController } from '../features/settings/controller.svelte.ts';
import { StartController } from '../features/start/controller.svelte.ts';
import type { Place } from './places.ts';

/** One controller a place; they outlive their pages, so that going elsewhere and back loses nothing. */
export function createWork(desk: Desk, go: (place: Place) => void) {
  const batch = new BatchController(desk);
  const lookup = new LookupController(desk, (source) => {
    void batch.open(source);
    go('batch');
  });
  return {
    start: new StartController(desk, () => {
      go('lookup');
    }),
    lookup,
    batch,
    reports: new ReportsController(desk, (retry) => {
      if (retry.place === 'lookup') void lookup.tryAgain(retry);
      else if (retry.place === 'batch') batch.tryAgain(retry);
      go(retry.place);
    }),
    activity: new ActivityController(desk),
    connections: new ConnectionsController(desk),
    settings: new SettingsController(desk),
  };
}
