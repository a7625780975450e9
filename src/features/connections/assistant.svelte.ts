import type { Failure, Outcome } from '../../../electron/contract/errors.ts';
import type {
  ProfileDifferences,
  ProfileDraft,
  ProfileEdits,
  ProfileSubject,
  ProfileTrial,
} from '../../../electron/contract/models/profile-draft.ts';
import { newXorKey, obscureText } from '../../../electron/contract/obscured.ts';
import type { Api } from '../../lib/api.ts';
import type { AppStore } from '../../lib/app-store.svelte.ts';
import { TypedSecret } from '../../ui/typed-secret.svelte.ts';

/** A service profile that is made of examples, tried and then stored. What is set by hand is kept until then. */
export class ProfileAssistant {
  readonly #app: AppStore;
  readonly #api: Api;
  readonly id: string;
  draft = $state.raw<ProfileDraft | null>(null);
  trial = $state.raw<ProfileTrial | null>(null);
  comparison = $state.raw<ProfileDifferences | null>(null);
  failure = $state.raw<Failure | null>(null);
  notice = $state('');
  /** The value of a trial is one in clear. */
  readonly value = new TypedSecret(8_192);
  #fields = $state.raw<ReadonlyMap<string, string>>(new Map());
  #examples = $state.raw<ReadonlyMap<ProfileSubject, number | null>>(new Map());
  #turn = 0;

  constructor(app: AppStore, api: Api, id: string) {
    this.#app = app;
    this.#api = api;
    this.id = id;
  }

  get edits(): ProfileEdits {
    return {
      examples: [...this.#examples].map(([subject, example]) => ({ subject, example })),
      fields: [...this.#fields].map(([path, text]) => ({ path, text })),
    };
  }

  textOf(path: string, text: string): string {
    return this.#fields.get(path) ?? text;
  }

  set(path: string, text: string): void {
    this.#fields = new Map(this.#fields).set(path, text);
  }

  async useExample(subject: ProfileSubject, example: number | null): Promise<void> {
    this.#examples = new Map(this.#examples).set(subject, example);
    await this.refresh();
  }

  async refresh(): Promise<void> {
    await this.#show(this.#api.call('connections.draftProfile', { id: this.id, edits: this.edits }));
  }

  /** A pasted text goes to main at once, and stays in no field. */
  async read(text: string): Promise<void> {
    if (text.trim() === '') return;
    const xorKey = newXorKey();
    const obscured = { xorKey, obscured: obscureText(text.slice(0, 500_000), xorKey) };
    await this.#show(
      this.#api.call('connections.readExamples', { id: this.id, text: obscured, edits: this.edits }),
    );
  }

  async choose(): Promise<void> {
    await this.#show(this.#api.call('connections.chooseExamples', { id: this.id, edits: this.edits }));
  }

  /** Begins again: with no example, and nothing set by hand. */
  async forget(): Promise<void> {
    await this.#api.call('connections.forgetExamples', { id: this.id });
    this.#fields = new Map();
    this.#examples = new Map();
    this.trial = null;
    this.comparison = null;
    await this.refresh();
  }

  async test(policy: string, definition: string): Promise<void> {
    const value = this.value.take();
    this.#begin();
    const outcome = await this.#api.call('connections.tryProfile', {
      id: this.id,
      edits: this.edits,
      policy,
      definition,
      value,
    });
    this.#take(outcome);
    if (outcome.ok) this.trial = outcome.value;
  }

  async save(): Promise<boolean> {
    this.#begin();
    const outcome = await this.#api.call('connections.saveProfile', { id: this.id, edits: this.edits });
    this.#take(outcome);
    if (!outcome.ok || outcome.value === null) return false;
    this.#fields = new Map();
    this.#examples = new Map();
    await this.#app.load();
    return true;
  }

  async export(): Promise<void> {
    this.#begin();
    const outcome = await this.#api.call('connections.exportProfile', { id: this.id, edits: this.edits });
    this.#take(outcome);
    if (outcome.ok && outcome.value !== null) this.notice = `Written to ${outcome.value.name}.`;
  }

  async compare(): Promise<void> {
    this.#begin();
    const outcome = await this.#api.call('connections.compareProfile', { id: this.id, edits: this.edits });
    this.#take(outcome);
    if (outcome.ok && outcome.value !== null) this.comparison = outcome.value;
  }

  async #show(calling: Promise<Outcome<ProfileDraft | null>>): Promise<void> {
    const turn = ++this.#turn;
    this.#begin();
    const outcome = await calling;
    if (turn !== this.#turn) return;
    this.#take(outcome);
    if (outcome.ok && outcome.value !== null) this.draft = outcome.value;
  }

  /** What the action before said is over. Not when an answer comes: a later action may have said something by then. */
  #begin(): void {
    this.failure = null;
    this.notice = '';
  }

  #take(outcome: Outcome<unknown>): void {
    if (!outcome.ok) this.failure = outcome.failure;
  }
}
