import type { ObscuredText } from '../../../electron/contract/obscured.ts';
import type { Failure } from '../../../electron/contract/errors.ts';
import type { About, Settings } from '../../../electron/contract/models/app.ts';
import type { DisclosureFigures } from '../../../electron/contract/models/disclosures.ts';
import type { ImportPlan } from '../../../electron/contract/models/deployment.ts';
import type { Api } from '../../lib/api.ts';
import type { AppStore } from '../../lib/app-store.svelte.ts';

/** Every change of a setting is saved at once; the page shows the settings that main reports back. */
export class SettingsController {
  readonly app: AppStore;
  readonly #api: Api;
  failure = $state.raw<Failure | null>(null);
  diagnosticsFailure = $state.raw<Failure | null>(null);
  passphraseFailure = $state.raw<Failure | null>(null);
  /** Stands beside the button that was pressed. */
  passphraseNotice = $state('');
  connectionsFailure = $state.raw<Failure | null>(null);
  wipeFailure = $state.raw<Failure | null>(null);
  notice = $state('');

  settings = $derived.by(() => this.app.state?.settings ?? null);
  /** What an administrator has fixed. */
  managed = $derived.by(() => this.app.state?.managed ?? {});
  passphraseSet = $derived.by(() => this.app.lock?.passphraseSet ?? false);

  constructor(app: AppStore, api: Api) {
    this.app = app;
    this.#api = api;
  }

  async about(): Promise<About | null> {
    const outcome = await this.#api.call('app.about', {});
    return outcome.ok ? outcome.value : null;
  }

  /** What this person saw in clear today. */
  async disclosures(): Promise<DisclosureFigures | null> {
    const outcome = await this.#api.call('app.disclosures', {});
    return outcome.ok ? outcome.value : null;
  }

  /** Opens it. Where that can't be done, answers its path. */
  async openLogFolder(): Promise<string | null> {
    const outcome = await this.app.api.call('app.openLogFolder', {});
    this.failure = outcome.ok ? null : outcome.failure;
    return outcome.ok ? outcome.value.place : null;
  }

  /** The app ends where it is not refused. */
  async removeEverything(): Promise<void> {
    const outcome = await this.#api.call('app.wipe', {});
    this.wipeFailure = outcome.ok ? null : outcome.failure;
  }

  async diagnostics(): Promise<string | null> {
    const outcome = await this.#api.call('app.diagnostics', {});
    this.diagnosticsFailure = outcome.ok ? null : outcome.failure;
    return outcome.ok ? outcome.value.text : null;
  }

  /** Saves what `diagnostics` answered last. The file's name; null when it was not saved. */
  async saveDiagnostics(): Promise<string | null> {
    const outcome = await this.#api.call('app.saveDiagnostics', {});
    this.diagnosticsFailure = outcome.ok ? null : outcome.failure;
    return outcome.ok ? (outcome.value?.name ?? null) : null;
  }

  /** Writes connections, mappings and reasons. Null when nothing was written. */
  async exportConnections(): Promise<{ name: string; leftOut: number } | null> {
    const outcome = await this.#api.call('connections.export', {});
    this.connectionsFailure = outcome.ok ? null : outcome.failure;
    return outcome.ok ? outcome.value : null;
  }

  /** What a file would change; null when none was chosen or it can't be read. */
  async chooseImport(): Promise<ImportPlan | null> {
    const outcome = await this.#api.call('connections.chooseImport', {});
    this.connectionsFailure = outcome.ok ? null : outcome.failure;
    return outcome.ok ? outcome.value : null;
  }

  /** How many things were imported; null where it failed. */
  async applyImport(importId: string): Promise<number | null> {
    const outcome = await this.#api.call('connections.applyImport', { importId });
    this.connectionsFailure = outcome.ok ? null : outcome.failure;
    return outcome.ok ? outcome.value.count : null;
  }

  async change(over: Partial<Settings>): Promise<void> {
    if (this.settings === null) return;
    const outcome = await this.#api.call('settings.save', { ...this.settings, ...over });
    this.failure = outcome.ok ? null : outcome.failure;
    this.notice = outcome.ok ? 'Saved.' : '';
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

  /** True when main accepted it. Neither passphrase is kept here. */
  async setPassphrase(current: ObscuredText, next: ObscuredText): Promise<boolean> {
    const outcome = await this.#api.call('lock.setPassphrase', { current, next });
    this.passphraseFailure = outcome.ok ? null : outcome.failure;
    const done = next.obscured === '' ? 'Passphrase removed.' : 'Passphrase set.';
    this.passphraseNotice = outcome.ok ? done : '';
    return outcome.ok;
  }
}
