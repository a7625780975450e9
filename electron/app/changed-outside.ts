import type { Outcome } from '../contract/errors.ts';
import type { SettingsDamage } from '../contract/models/app.ts';
import { settingsRecord } from '../settings/seals.ts';
import { createSerialQueue } from '../util/serial-queue.ts';
import type { Foundation } from './foundation.ts';

export interface OutsideChanges {
  /** Never rejects. */
  dealWith(): Promise<void>;
  /** What became of the settings in this run; null where they were as this app left them. */
  settingsDamage(): SettingsDamage | null;
}

type Options = Pick<Foundation, 'audit' | 'connections' | 'log' | 'seals'>;

/**
 * Removes the secrets of connections whose record was changed outside of the app, and puts the lock's settings back where
 * they were changed, with one line of the log each; with one line for all where the key that tells is gone. Called at the start, at each unlocking and when the keychain comes back:
 * before it knows, no secret is given out. What can't be dealt with now is not used either, and is tried at the next call.
 */
export function createOutsideChanges({ audit, connections, log, seals }: Options): OutsideChanges {
  const queue = createSerialQueue();
  let damage: SettingsDamage | null = null;

  async function dealWithOne(id: string): Promise<Outcome<unknown>> {
    if (id === settingsRecord)
      return audit.record(
        { action: 'ChangedOutside', note: 'settings of the lock: set back to their defaults' },
        () => {
          damage = { reason: 'changed', keptAs: '' };
          return seals.resetSettings();
        },
      );
    const found = connections.find(id);
    if (!found.ok) return found;
    const { name: connection, environment } = found.value;
    const note = 'the secrets were removed';
    return audit.record({ action: 'ChangedOutside', connection, environment, note }, () =>
      connections.dropSecrets(id),
    );
  }

  /** The key of the seals was gone: all of it is one change. */
  const dealWithLoss = (ids: readonly string[]): Promise<Outcome<unknown>> =>
    audit.record(
      {
        action: 'ChangedOutside',
        note: 'the keychain had no key of the stored secrets: those of all connections were removed, settings of the lock set back',
      },
      async () => {
        damage = { reason: 'lost', keptAs: '' };
        for (const id of ids) {
          const dealt = id === settingsRecord ? seals.resetSettings() : await connections.dropSecrets(id);
          if (!dealt.ok) return dealt;
        }
        return seals.dealtWith(ids.filter((id) => id !== settingsRecord));
      },
    );

  return {
    settingsDamage: () => damage,
    dealWith: () =>
      queue(async () => {
        const left = await seals.left();
        if (!left.ok) {
          log.info(`settings not checked: ${left.failure.code}`);
          return;
        }
        if (seals.isKeyLost() && left.value.length > 0) {
          const dealt = await dealWithLoss(left.value);
          if (!dealt.ok) log.info(`the loss of the key not dealt with: ${dealt.failure.code}`);
          return;
        }
        const dealtWith: string[] = [];
        for (const id of left.value) {
          const dealt = await dealWithOne(id);
          if (!dealt.ok) log.info(`change from outside not dealt with: ${dealt.failure.code}`);
          else if (id !== settingsRecord) dealtWith.push(id);
        }
        if (dealtWith.length === 0) return;
        const noted = seals.dealtWith(dealtWith);
        if (!noted.ok) log.info(`changes from outside are said again: ${noted.failure.code}`);
      }),
  };
}
