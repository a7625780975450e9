import type { Desk } from '../desk.svelte.ts';
import { ActivityController } from '../features/activity/controller.svelte.ts';
import { BatchController } from '../features/batch/controller.svelte.ts';
import { ConnectionsController } from '../features/connections/controller.svelte.ts';
import { LookupController } from '../features/lookup/controller.svelte.ts';
import { SettingsController } from '../features/settings/controller.svelte.ts';
import { StartController } from '../features/start/controller.svelte.ts';
import type { Place } from './places.ts';

/** One controller a place; they outlive their pages, so that going elsewhere and back loses nothing. */
export function createWork(desk: Desk, go: (place: Place) => void) {
  const batch = new BatchController(desk);
  return {
    start: new StartController(desk, () => {
      go('lookup');
    }),
    lookup: new LookupController(desk, (source) => {
      void batch.open(source);
      go('batch');
    }),
    batch,
    activity: new ActivityController(desk),
    connections: new ConnectionsController(desk),
    settings: new SettingsController(desk),
  };
}
