import ChartColumn from '@lucide/svelte/icons/chart-column';
import Plug from '@lucide/svelte/icons/plug';
import Activity from '@lucide/svelte/icons/scroll-text';
import Search from '@lucide/svelte/icons/search';
import Settings from '@lucide/svelte/icons/settings';
import Administration from '@lucide/svelte/icons/shield-user';
import Table from '@lucide/svelte/icons/table-2';
import type { ConnectionView } from '../../electron/contract/models/connection.ts';
import { pages, type PageId } from '../../electron/contract/pages.ts';
import type { Api } from '../lib/api.ts';
import type { AppStore } from '../lib/app-store.svelte.ts';
import { LookupController } from '../features/lookup/lookup.svelte.ts';
import { SettingsController } from '../features/settings/settings.svelte.ts';
import { StartController } from '../features/start/start.svelte.ts';

export const pageIcons: Record<PageId, typeof Search> = {
  lookup: Search,
  batch: Table,
  reports: ChartColumn,
  activity: Activity,
  connections: Plug,
  settings: Settings,
  administration: Administration,
};

/**
 * The window's title, which the task bar shows, and whoever sees the screen: page, connection and environment, and never a
 * case, a token or a file. Of a locked app neither page nor connection.
 */
export function titleOf(
  page: PageId | null,
  connection: Pick<ConnectionView, 'name' | 'environment'> | null,
): string {
  const label = pages.find(({ id }) => id === page)?.label;
  const parts = [label, connection?.name, connection?.environment.toUpperCase(), 'Tokendesk'];
  return parts.filter((part) => part !== undefined).join(' – ');
}

export type Controllers = ReturnType<typeof createControllers>;

/** Made when it is first asked for; everybody gets the same one. */
export interface Later<T> {
  (): Promise<T>;
  /** Null while nobody asked, or while it is being made. */
  readonly made: () => T | null;
}

function later<T>(make: () => Promise<T>): Later<T> {
  let making: Promise<T> | undefined;
  let made: T | null = null;
  const get = (): Promise<T> => (making ??= make().then((value) => (made = value)));
  return Object.assign(get, { made: () => made });
}

/**
 * One controller a page. They outlive the page's component, so that going to another page and back loses nothing. The
 * window opens on Lookup: the code of the other pages' controllers is loaded when it is needed.
 */
export function createControllers(app: AppStore, api: Api, go: (page: PageId) => void) {
  const batch = later(async () => {
    const { BatchController } = await import('../features/batch/batch.svelte.ts');
    return new BatchController(app, api);
  });
  const lookup = new LookupController(app, api, (source) => {
    void batch().then((controller) => controller.open(source, { areTokens: true }));
    go('batch');
  });
  return {
    start: new StartController(api, () => {
      go('lookup');
    }),
    lookup,
    batch,
    reports: later(async () => {
      const { ReportsController } = await import('../features/reports/reports.svelte.ts');
      return new ReportsController({
        app,
        api,
        onretry: (retry) => {
          if (retry.page === 'lookup') void lookup.tryAgain(retry);
          else if (retry.page === 'batch') void batch().then((controller) => controller.tryAgain(retry));
          go(retry.page);
        },
      });
    }),
    activity: later(async () => {
      const { ActivityController } = await import('../features/activity/activity.svelte.ts');
      return new ActivityController(app, api);
    }),
    connections: later(async () => {
      const { ConnectionsController } = await import('../features/connections/connections.svelte.ts');
      return new ConnectionsController(app, api);
    }),
    settings: new SettingsController(app, api),
    administration: later(async () => {
      const { AdministrationController } =
        await import('../features/administration/administration.svelte.ts');
      return new AdministrationController(app, api);
    }),
  } satisfies Record<PageId | 'start', unknown>;
}
