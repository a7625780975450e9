import type { CallInput } from '../../../electron/contract/calls.ts';
import type { Failure, Outcome } from '../../../electron/contract/errors.ts';
import type { UnreadAnswer } from '../../../electron/contract/models/connection.ts';
import type { Api } from '../../lib/api.ts';
import type { AppStore } from '../../lib/app-store.svelte.ts';
import { ProfileAssistant } from './assistant.svelte.ts';

/** The service profile of one connection: imported, removed, or fitted to the answers that came. Stored at once. */
export class ConnectionProfileController {
  readonly #app: AppStore;
  readonly #api: Api;
  /** Answers that the profile could not read: names of members, no values. */
  unread = $state.raw<UnreadAnswer[]>([]);
  failure = $state.raw<Failure | null>(null);
  notice = $state('');
  /** While a profile is made of examples. */
  assistant = $state.raw<ProfileAssistant | null>(null);
  #connectionId: string | null = null;

  constructor(app: AppStore, api: Api) {
    this.#app = app;
    this.#api = api;
  }

  get mayImport(): boolean {
    return this.#app.state?.managed.profileImport !== false;
  }

  /** Another connection is shown, or the same one again: its answers may have come meanwhile. */
  async show(id: string): Promise<void> {
    if (this.#connectionId !== id) {
      this.unread = [];
      this.failure = null;
      this.notice = '';
      this.assistant = null;
    }
    this.#connectionId = id;
    const outcome = await this.#api.call('connections.unreadAnswers', { id });
    if (this.#connectionId === id) this.unread = outcome.ok ? outcome.value : [];
  }

  assist(id: string): void {
    this.assistant = new ProfileAssistant(this.#app, this.#api, id);
  }

  closeAssistant(): void {
    this.assistant = null;
  }

  /** Main asks for the file and checks it; it never tells its path. */
  async import(id: string): Promise<void> {
    await this.#change(id, () => this.#api.call('connections.importProfile', { id }));
  }

  /** Writes the profile in use as a file: a template for one of one's own. */
  async export(id: string): Promise<void> {
    const outcome = await this.#api.call('connections.exportProfile', {
      id,
      edits: { examples: [], fields: [] },
    });
    this.failure = outcome.ok ? null : outcome.failure;
    this.notice = outcome.ok && outcome.value !== null ? `Written to ${outcome.value.name}.` : '';
  }

  async remove(id: string, part: 'imported' | 'fitted'): Promise<void> {
    await this.#change(id, () => this.#api.call('connections.removeProfile', { id, part }));
  }

  /** Says which member of an answer is what; main then signs in with the fitted profile. */
  async fit(input: CallInput<'connections.fitProfile'>): Promise<void> {
    const { id, operation } = input;
    const fitted = await this.#change(id, () => this.#api.call('connections.fitProfile', input));
    if (!fitted.ok || this.#connectionId !== id) return;
    this.failure = fitted.value.test;
    this.notice =
      fitted.value.test !== null
        ? `${operation} is fitted, but the sign-in that tests it failed.`
        : operation === 'CreateSession'
          ? 'CreateSession is fitted, and the sign-in works.'
          : `${operation} is fitted, and the sign-in works. Try ${operation} with a token of your own.`;
  }

  async #change<T>(id: string, change: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
    this.notice = '';
    const outcome = await change();
    this.failure = outcome.ok ? null : outcome.failure;
    await this.#app.load();
    await this.show(id);
    return outcome;
  }
}
