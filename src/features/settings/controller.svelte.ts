import type { CoveredText } from '../../../electron/contract/covered.ts';
import type { Failure } from '../../../electron/contract/errors.ts';
import type { About } from '../../../electron/contract/models/desk.ts';
import type { Settings } from '../../../electron/contract/models/settings.ts';
import type { Desk } from '../../desk.svelte.ts';

/** Preferences are saved as they are changed; what main answers is what counts. */
export class SettingsController {
  readonly desk: Desk;
  failure = $state.raw<Failure | null>(null);
  passphraseFailure = $state.raw<Failure | null>(null);
  said = $state('');

  settings = $derived.by(() => this.desk.state?.settings ?? null);
  passphraseSet = $derived.by(() => this.desk.state?.lock.passphraseSet ?? false);

  constructor(desk: Desk) {
    this.desk = desk;
  }

  async about(): Promise<About | null> {
    const outcome = await this.desk.api.call('desk.about', {});
    return outcome.ok ? outcome.value : null;
  }

  async change(over: Partial<Settings>): Promise<void> {
    if (this.settings === null) return;
    const outcome = await this.desk.api.call('settings.save', { ...this.settings, ...over });
    this.failure = outcome.ok ? null : outcome.failure;
    this.said = outcome.ok ? 'Saved.' : '';
  }

  async addReason(reason: string): Promise<boolean> {
    const known = this.settings?.reasons ?? [];
    const next = reason.trim();
    if (next === '' || known.includes(next)) return false;
    await this.change({ reasons: [...known, next] });
    return this.failure === null;
  }

  async removeReason(reason: string): Promise<void> {
    const left = (this.settings?.reasons ?? []).filter((known) => known !== reason);
    if (left.length > 0) await this.change({ reasons: left });
  }

  /** True when it was taken. Neither is kept here. */
  async setPassphrase(current: CoveredText, next: CoveredText): Promise<boolean> {
    const outcome = await this.desk.api.call('lock.setPassphrase', { current, next });
    this.passphraseFailure = outcome.ok ? null : outcome.failure;
    this.said = outcome.ok ? (next.covered === '' ? 'Passphrase removed.' : 'Passphrase set.') : '';
    return outcome.ok;
  }
}
