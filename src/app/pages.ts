import ChartColumn from '@lucide/svelte/icons/chart-column';
import Plug from '@lucide/svelte/icons/plug';
import Activity from '@lucide/svelte/icons/scroll-text';
import Search from '@lucide/svelte/icons/search';
import Settings from '@lucide/svelte/icons/settings';
import Administration from '@lucide/svelte/icons/shield-user';
import Table from '@lucide/svelte/icons/table-2';
import type { Api } from '../api.ts';
import type { AppStore } from '../app-store.svelte.ts';
import { ActivityController } from '../features/activity/activity.svelte.ts';
import { AdministrationController } from '../features/administration/administration.svelte.ts';
import { BatchController } from '../features/batch/batch.svelte.ts';
import { ConnectionsController } from '../features/connections/connections.svelte.ts';
import { LookupController } from '../features/lookup/lookup.svelte.ts';
import { ReportsController } from '../features/reports/reports.svelte.ts';
import { SettingsController } from '../features/settings/settings.svelte.ts';
import { StartController } from '../features/start/start.svelte.ts';

/** The pages in the order of the sidebar; Ctrl and the number in this order goes to one. */
export const pages = [
  { id: 'lookup', label: 'Lookup', icon: Search },
  { id: 'batch', label: 'Batch', icon: Table },
  { id: 'reports', label: 'Reports', icon: ChartColumn },
  { id: 'activity', label: 'Activity', icon: Activity },
  { id: 'connections', label: 'Connections', icon: Plug },
  { id: 'settings', label: 'Settings', icon: Settings },
  { id: 'administration', label: 'Administration', icon: Administration },
] as const;

export type PageId = (typeof pages)[number]['id'];

export type Controllers = ReturnType<typeof createControllers>;

/** One controller a page. They outlive the page's component, so that going to another page and back loses nothing. */
export function createControllers(app: AppStore, api: Api, go: (page: PageId) => void) {
  const batch = new BatchController(app, api);
  const lookup = new LookupController(app, api, (source) => {
    void batch.open(source, { areTokens: true });
    go('batch');
  });
  return {
    start: new StartController(api, () => {
      go('lookup');
    }),
    lookup,
    batch,
    reports: new ReportsController({
      app,
      api,
      onretry: (retry) => {
        if (retry.page === 'lookup') void lookup.tryAgain(retry);
        else if (retry.page === 'batch') batch.tryAgain(retry);
        go(retry.page);
      },
    }),
    activity: new ActivityController(app, api),
    connections: new ConnectionsController(app, api),
    settings: new SettingsController(app, api),
    administration: new AdministrationController(app, api),
  };
}
