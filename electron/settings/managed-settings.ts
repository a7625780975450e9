import type { ManagedSettings, Settings } from '../contract/models/app.ts';
import type { SettingsDocument } from './settings.ts';
import type { Store } from './store.ts';

const settingNames = [
  'caseRequired',
  'reasons',
  'revealSeconds',
  'clipboardSeconds',
  'lockAfterMinutes',
  'keepResultsDays',
] as const;

/** Of the settings a person has: which the administrator has fixed. */
export function fixedSettings(managed: ManagedSettings): Partial<Settings> {
  return Object.fromEntries(
    settingNames.flatMap((name) => (managed[name] === undefined ? [] : [[name, managed[name]]])),
  );
}

/**
 * A store whose settings are what is in force: the administrator's, then the person's, then the default. What the person
 * chose before stays in the file, and is in force again when the administrator's goes.
 */
export function withManagedSettings(
  store: Store<SettingsDocument>,
  managed: ManagedSettings,
): Store<SettingsDocument> {
  const fixed = fixedSettings(managed);
  const inForce = (own: Settings): Settings => ({ ...own, ...structuredClone(fixed) });
  return {
    ...store,
    read: (key) =>
      key === 'settings'
        ? (inForce(store.read('settings')) as ReturnType<typeof store.read<typeof key>>)
        : store.read(key),
    write(key, value) {
      if (key !== 'settings') return store.write(key, value);
      const own = store.read('settings');
      const names = Object.keys(fixed) as (keyof Settings)[];
      const kept = Object.fromEntries(names.map((name) => [name, own[name]]));
      return store.write(key, Object.assign({}, value, kept));
    },
  };
}

/** Whether a connection may name this address. */
export function isAllowedHost(baseUrl: string, { allowedHosts }: ManagedSettings): boolean {
  if (allowedHosts === undefined) return true;
  const host = new URL(baseUrl).hostname;
  return allowedHosts.some((allowed) =>
    allowed.startsWith('*.') ? host.endsWith(allowed.slice(1)) : host === allowed,
  );
}

/** Names for diagnostics, with the values that name nobody and no host. */
export function describeManaged(managed: ManagedSettings): string[] {
  return Object.entries(managed).map(([name, value]) =>
    typeof value === 'number' ||
    typeof value === 'boolean' ||
    name === 'cleartextExport' ||
    name === 'remainingCleartext'
      ? `${name}=${String(value)}`
      : name,
  );
}
