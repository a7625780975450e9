import { isDeepStrictEqual } from 'node:util';
import { describeChanges } from '../audit/changes.ts';
import type { RunningBatches } from '../batch/running/notify.ts';
import { createDeployment } from '../connections/deployment.ts';
import type { Handlers } from '../contract/calls.ts';
import { done, failed, type Outcome } from '../contract/errors.ts';
import type { ManagedSettings, Settings, SettingsDamage } from '../contract/models/app.ts';
import { restoreText } from '../contract/obscured.ts';
import type { Platform, Question } from '../platform/platform.ts';
import { describeManaged, fixedSettings } from '../settings/managed-settings.ts';
import { createDiagnosticsHandlers } from '../support/diagnostics.ts';
import type { Foundation } from './foundation.ts';
import type { Openings } from './opened.ts';
import type { AppOptions } from './options.ts';
import type { Pages } from './pages.ts';
import type { Service } from './service.ts';
import { type CurrentState, readAbout } from './state.ts';

interface HandlersOptions {
  readonly platform: Platform;
  readonly options: Pick<AppOptions, 'licences'>;
  readonly foundation: Foundation;
  readonly service: Service;
  readonly pages: Pages;
  readonly state: CurrentState;
  readonly openings: Pick<Openings, 'take'>;
  readonly batches: Pick<RunningBatches, 'count' | 'running'>;
  /** Asks while the app is locked too, which the modules' dialogs don't: of nothing but the lock itself. */
  readonly confirmLocked: Platform['confirm'];
  /** What waits for an unlocking. */
  readonly begin: () => Promise<void>;
  /** The same after a reset: what there is has to be looked at before it is used. */
  readonly startOver: () => Promise<void>;
  readonly settingsDamage: () => SettingsDamage | null;
}

/** A handler for each call of the contract. `followProvided` applies what an administrator provides. */
export function composeHandlers({
  platform,
  options,
  foundation,
  service,
  pages,
  state,
  openings,
  batches,
  confirmLocked,
  begin,
  startOver,
  settingsDamage,
}: HandlersOptions) {
  const { audit, connections, disclosures, keychain, lock, log, managed, now, settings, store } = foundation;
  const { clients, profiles } = service;
  const { administration, batch, lookup, reports, stories } = pages;
  const { forgetAllExamples: _, ...assistantCalls } = pages.assistant;
  const { restoreProfile, useProfile: __, ...connectionCalls } = pages.connectionPage;

  async function saveSettings(next: Settings): Promise<Outcome<Settings>> {
    const fixed = changedFixed(settings(), next, managed);
    if (fixed !== null) return failed('settings.managed', { subject: fixed });
    const note = describeChanges(settings(), next);
    return audit.record({ action: 'SaveSettings', note }, async () => {
      // Only with the keychain open can what the lock hangs on be changed.
      await foundation.seals.changed();
      const saved = store.write('settings', next);
      platform.setTheme(settings().theme);
      state.changed();
      return saved.ok ? done(settings()) : saved;
    });
  }

  const { followProvided, ...deploymentCalls } = createDeployment({
    platform,
    connections: () => connections.list(),
    settings,
    managed,
    audit,
    profiles,
    restoreProfile,
    giveKinds: (id, kinds) => connections.giveKinds(id, kinds),
    calls: { ...connectionCalls, ...batch, 'settings.save': saveSettings },
  });
  const handlers: Handlers = {
    'app.state': async () => done(await state.read()),
    'app.about': async () => done(await readAbout(platform, options.licences)),
    'app.disclosures': () => disclosures.today(),
    'app.openLogFolder': async () =>
      done({ place: (await platform.openFolder(log.folder)) ? null : log.folder }),
    'app.wipe': () =>
      batches.count() > 0
        ? Promise.resolve(failed('wipe.batch-running'))
        : audit.record({ action: 'RemoveEverything' }, () =>
            platform.restartToWipe() ? done({}) : failed('wipe.unavailable'),
          ),
    ...createDiagnosticsHandlers({
      platform,
      connections,
      clients: () => clients,
      keychain,
      audit,
      settingsDamage,
      log,
      managed: () => describeManaged(managed),
      now,
    }),
    ...connectionCalls,
    ...assistantCalls,
    ...deploymentCalls,
    'app.takeOpened': () => openings.take(),
    ...pages.approval.calls,
    ...lookup,
    ...stories.calls,
    ...batch,
    ...reports,
    ...administration.handlers,
    'activity.list': async (query) => done(await audit.list(query)),
    'activity.cases': async ({ limit }) => done(await audit.cases(limit)),
    'settings.save': saveSettings,
    'lock.now': () => Promise.resolve(done(lock.now())),
    'lock.unlock': async ({ passphrase }) => {
      const begun = await audit.begin({ action: 'Unlock' });
      // It opens once what was changed outside is dealt with: till then nothing of it is in force.
      const unlocked = await lock.unlock(restoreText(passphrase), begin);
      // A full disk must not keep the person out: nothing can be done inside without the log either.
      if (begun.ok) begun.value(unlocked.ok ? { ok: true } : { ok: false, code: unlocked.failure.code });
      return unlocked;
    },
    'lock.reset': async () => {
      const { locked, passphraseSet, verifierLost } = lock.state();
      const openings = lock.openings();
      if (!locked || !passphraseSet) return failed('call.refused');
      // A window that is not a person's must not make the secrets go. Where nothing opens them, nothing is left to ask.
      if (verifierLost !== true && (await confirmLocked(resetQuestion(batches.count()))) === null)
        return done(lock.state());
      // The question was of that lock, not of one that came after an unlocking.
      if (lock.openings() !== openings) return done(lock.state());
      // What they receive from now on nobody could open.
      for (const jobId of batches.running()) await batch['batch.pause']({ jobId });
      return audit.record({ action: 'ResetLock' }, () => lock.reset(startOver));
    },
    'lock.setPassphrase': ({ current, next }) => {
      if (managed.passphraseRequired === true && next.obscured === '')
        return Promise.resolve(failed('settings.managed', { subject: 'passphraseRequired' }));
      const action = next.obscured === '' ? 'RemovePassphrase' : 'SetPassphrase';
      return audit.record({ action }, () => lock.setPassphrase(restoreText(current), restoreText(next)));
    },
    'lock.active': () => {
      lock.active();
      return Promise.resolve(done({}));
    },
  };

  return { handlers, followProvided };
}

/** The one way on for who has lost the passphrase; `running`: how many batches run. */
const resetQuestion = (running: number): Question => ({
  message: 'Forget the passphrase and all that it protects?',
  detail: [
    'API keys, passwords, tokens of the portal and client certificates are removed from this computer. Results of batches and saved mappings can’t be opened any more.',
    ...(running === 0 ? [] : [lostBatches(running)]),
    'Connections, settings and the audit log stay, with a line that this was done. Settings of the lock are set back, and each connection is used again once it is looked at and saved. Without the passphrase there is no other way.',
  ].join('\n\n'),
  action: 'Forget all secrets',
});

const lostBatches = (running: number): string =>
  running === 1
    ? 'A batch is still running. It is stopped, and what it has received is lost too.'
    : `${running} batches are still running. They are stopped, and what they have received is lost too.`;

/** The first setting that a change would take from what the administrator has fixed; null where there is none. */
function changedFixed(before: Settings, next: Settings, managed: ManagedSettings): string | null {
  const names = Object.keys(fixedSettings(managed)) as (keyof Settings)[];
  return names.find((name) => !isDeepStrictEqual(before[name], next[name])) ?? null;
}
