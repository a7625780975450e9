import { done, type Outcome } from '../contract/errors.ts';
import type { SettingsDamage } from '../contract/models/app.ts';
import { settingsRecord, withoutLockSettings } from '../settings/seals.ts';
import { createSerialQueue } from '../util/serial-queue.ts';
import type { Foundation } from './foundation.ts';

export interface OutsideChanges {
  /** Never rejects. */
  dealWith(): Promise<void>;
  /** What became of the settings in this run; null where they were as this app left them. */
  settingsDamage(): SettingsDamage | null;
}

type Options = Pick<Foundation, 'audit' | 'connections' | 'lock' | 'log' | 'seals' | 'store'>;

/**
 * Removes the secrets of connections whose record was changed outside of the app, and puts the lock's settings back where
 * they were changed, with one line of the log each. Called at the start, at each unlocking and when the keychain comes back:
 * before it knows, no secret is given out. What can't be dealt with now is not used either, and is tried at the next call.
 */
export function createOutsideChanges({
  audit,
  connections,
  lock,
  log,
  seals,
  store,
}: Options): OutsideChanges {
  const queue = createSerialQueue();
  let damage: SettingsDamage | null = null;

  async function dealWithOne(id: string): Promise<Outcome<unknown>> {
    if (seals.isDealtWith(id)) return done(null);
    if (id === settingsRecord)
      return audit.record(
        { action: 'ChangedOutside', note: 'settings of the lock: set back to their defaults' },
        () => {
          const before = store.read('settings');
          seals.accept(id);
          damage = { reason: 'changed', keptAs: '' };
          return store.write('settings', withoutLockSettings(before));
        },
      );
    const found = connections.find(id);
    if (!found.ok) return found;
    const { name: connection, environment } = found.value;
    const note = 'the secrets were removed';
    return audit.record({ action: 'ChangedOutside', connection, environment, note }, async () => {
      const dropped = await connections.dropSecrets(id);
      return dropped.ok ? seals.dealtWith(id) : dropped;
    });
  }

  return {
    settingsDamage: () => damage,
    dealWith: () =>
      queue(async () => {
        if (lock.state().locked) return;
        const changed = await seals.changed();
        if (!changed.ok) {
          log.info(`settings not checked: ${changed.failure.code}`);
          return;
        }
        for (const id of [...changed.value]) {
          const dealt = await dealWithOne(id);
          if (!dealt.ok) log.info(`change from outside not dealt with: ${dealt.failure.code}`);
        }
      }),
  };
}
