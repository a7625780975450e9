import type { ObscuredText } from '../../../electron/contract/obscured.ts';
import type { Failure } from '../../../electron/contract/errors.ts';
import type {
  ConnectionDraft,
  ConnectionView,
  SecretName,
  SecretState,
} from '../../../electron/contract/models/connection.ts';
import { undoMs } from '../../../electron/contract/undo.ts';
import { operationNames } from '../../../electron/contract/operations.ts';
import type { Api } from '../../lib/api.ts';
import type { AppStore } from '../../lib/app-store.svelte.ts';
import { TypedSecret } from '../../ui/typed-secret.svelte.ts';
import { usablePolicy, whyUnusable } from '../../lib/usable-connection.ts';
import { problemsOf, type Problem, type Step } from './draft-problems.ts';
import { ConnectionProfileController } from './profile.svelte.ts';

/** A larger test is confirmed first: the service may count each request as a transfer. */
const maxUnaskedRequests = 300;

const blank: ConnectionDraft = {
  id: null,
  name: '',
  environment: 'test',
  baseUrl: 'https://',
  extraCa: null,
  proxyUser: '',
  policies: [],
  definitions: [],
  accountId: '',
  tenantId: '',
  apiKeyExpires: null,
  requestsPerSecond: 600,
  transfersPerDay: 10_000_000,
};

/** The members of the view that a draft has. `blank` names them all, so a new member can't be left out. */
function draftOf(view: ConnectionView): ConnectionDraft {
  const names = Object.keys(blank) as (keyof ConnectionDraft)[];
  const members = Object.fromEntries(names.map((name) => [name, view[name]]));
  return structuredClone(members) as unknown as ConnectionDraft;
}

/** Where the test of the policies is; `failures` are of those that could not be tested. */
interface TestRun {
  policy: string | null;
  failures: { policy: string; failure: Failure }[];
}

/**
 * Connections and the states of their secrets. A secret stays in the field it is typed into until the connection is
 * saved; then it passes through to main and is not kept.
 */
export class ConnectionsController {
  readonly app: AppStore;
  readonly profile: ConnectionProfileController;
  readonly #api: Api;
  draft = $state<ConnectionDraft | null>(null);
  step = $state<Step>('service');
  failure = $state.raw<Failure | null>(null);
  /** Of the client certificate, which is stored as soon as it is chosen. */
  certificateFailure = $state.raw<Failure | null>(null);
  test = $state.raw<TestRun | null>(null);
  /** A test so large that a person confirms it first. */
  asksToTest = $state(false);
  /** Removed, and can be brought back for a while. */
  removed = $state.raw<ConnectionView | null>(null);
  /** Of a removal or of undoing it. */
  removalFailure = $state.raw<Failure | null>(null);
  notice = $state('');
  /** Counts the attempts to save what was not complete: each one moves the focus to the first field that is not. */
  rejections = $state(0);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isStopped = false;
  #removing: Promise<unknown> = Promise.resolve();
  /** Of the draft, by their names. */
  readonly #secrets = new Map<string, TypedSecret>();

  list = $derived.by(() => (this.app.state?.connections ?? []).filter(({ id }) => id !== this.removed?.id));
  view = $derived.by(() => this.list.find(({ id }) => id === this.draft?.id) ?? null);
  testRequests = $derived.by(
    () => (this.draft?.policies.length ?? 0) * (this.draft?.definitions.length ?? 0) * operationNames.length,
  );
  isTesting = $derived(this.test !== null && this.test.policy !== null);
  /** What keeps the draft from being saved, in the order of the fields. */
  problems = $derived.by((): Problem[] => {
    if (this.draft === null) return [];
    return problemsOf(
      this.draft,
      this.list.filter(({ id }) => id !== this.draft?.id).map(({ name }) => name),
    );
  });
  /** Whether something is typed that is not saved. */
  isChanged = $derived.by(() => {
    if (this.draft === null) return false;
    const isTyped = this.#secretNames(this.draft).some((name) => this.secret(name).length > 0);
    const saved = this.view === null ? null : draftOf(this.view);
    return isTyped || JSON.stringify(this.draft) !== JSON.stringify(saved);
  });

  constructor(app: AppStore, api: Api) {
    this.app = app;
    this.#api = api;
    this.profile = new ConnectionProfileController(app, api);
  }

  /** Shows the active connection, or the first one, where none is chosen. */
  show(): void {
    if (this.draft !== null) return;
    const first = this.app.connection ?? this.list[0];
    if (first !== undefined) this.edit(first.id);
  }

  edit(id: string): void {
    const view = this.list.find((connection) => connection.id === id);
    if (view === undefined) return;
    this.#clear();
    this.draft = draftOf(view);
    // What is missing is on the second page.
    this.step = view.apiKey === 'missing' && !view.builtIn ? 'access' : 'service';
  }

  add(): void {
    this.#clear();
    this.draft = structuredClone(blank);
    this.step = 'service';
  }

  /** What is wrong with a field, once it was tried to save. */
  errorOf(field: string): string | null {
    if (this.rejections === 0) return null;
    return this.problems.find((problem) => problem.field === field)?.message ?? null;
  }

  secret(name: SecretName): TypedSecret {
    const key = JSON.stringify(name);
    const typed = this.#secrets.get(key) ?? new TypedSecret(2_560);
    this.#secrets.set(key, typed);
    return typed;
  }

  secretState(name: SecretName): SecretState {
    const { view } = this;
    if (view === null) return 'missing';
    if (name.kind !== 'policyPassword') return view[name.kind] ?? 'missing';
    return view.policyPasswords.find(({ policy }) => policy === name.policy)?.state ?? 'missing';
  }

  /**
   * Saves the connection, then each secret that was typed: both as they are now. What is typed while main saves stays
   * in its field, for the next time. False where something is missing or failed.
   */
  async save(): Promise<boolean> {
    const { draft } = this;
    if (draft === null || this.view?.builtIn === true) return false;
    const [first] = this.problems;
    if (first !== undefined) {
      this.notice = '';
      this.step = first.step;
      this.rejections += 1;
      return false;
    }
    this.rejections = 0;
    const typed = this.#secretNames(draft)
      .map((name) => ({ name, text: this.secret(name), edits: this.secret(name).edits }))
      .filter(({ text }) => text.length > 0);
    const asText = (): string => JSON.stringify({ ...draft, id: null });
    const sent = asText();
    const outcome = await this.#api.call('connections.save', {
      ...draft,
      baseUrl: draft.baseUrl.trim().replace(/\/+$/, ''),
    });
    this.failure = outcome.ok ? null : outcome.failure;
    if (!outcome.ok) return false;
    const { id } = outcome.value;
    draft.id = id;
    let isStored = true;
    for (const { name, text, edits } of typed)
      if (isStored && text.edits === edits) isStored = await this.#storeSecret(id, name, text);
    // Main tells of its changes a moment later.
    await this.app.load();
    // As it was saved: main has trimmed names and taken the certificates out of the text.
    if (this.view !== null && this.draft === draft && asText() === sent)
      Object.assign(draft, draftOf(this.view));
    if (!isStored) return false;
    this.notice = this.isChanged ? '' : 'Saved.';
    await this.#useFirst();
    return true;
  }

  /** Sends the passphrase; main then asks for the file and never tells its path. */
  async chooseCertificate(passphrase: ObscuredText): Promise<Failure | null> {
    const id = this.draft?.id ?? null;
    if (id === null) return null;
    const outcome = await this.#api.call('connections.chooseCertificate', { id, passphrase });
    this.certificateFailure = outcome.ok ? null : outcome.failure;
    return this.certificateFailure;
  }

  async forgetCertificate(): Promise<void> {
    const id = this.draft?.id ?? null;
    if (id === null) return;
    const outcome = await this.#api.call('connections.forgetCertificate', { id });
    this.certificateFailure = outcome.ok ? null : outcome.failure;
  }

  /** Saves what is changed and tests it; asks first where that takes very many requests. */
  async runTest(): Promise<void> {
    if (this.isChanged && !(await this.save())) return;
    if (this.draft === null || this.draft.id === null) return;
    this.step = 'test';
    this.asksToTest = this.testRequests > maxUnaskedRequests;
    if (!this.asksToTest) await this.startTest();
  }

  /** Tests the policies one after the other, from what is saved. */
  async startTest(): Promise<void> {
    this.asksToTest = false;
    const { draft } = this;
    const id = draft?.id ?? null;
    if (draft === null || id === null) return;
    this.#isStopped = false;
    const failures: TestRun['failures'] = [];
    for (const policy of [...draft.policies]) {
      this.test = { policy, failures: [...failures] };
      const outcome = await this.#api.call('connections.test', { id, policy });
      // Another connection is shown by now.
      if (this.draft !== draft) return;
      if (!outcome.ok) failures.push({ policy, failure: outcome.failure });
      if (this.#isStopping()) break;
    }
    this.test = { policy: null, failures };
    // One of the answers may have been none that the profile can read.
    await this.profile.show(id);
  }

  #isStopping = (): boolean => this.#isStopped;

  /** The policy that is being tested is the last. */
  stopTest(): void {
    this.#isStopped = true;
  }

  /** Main removes it, and its secrets, at once. */
  remove(): void {
    const view = this.view;
    if (view === null) return;
    this.forgetRemoved();
    this.removalFailure = null;
    this.removed = view;
    this.draft = null;
    this.#clear();
    this.#removing = this.#api.call('connections.remove', { id: view.id }).then((outcome) => {
      if (outcome.ok || this.removed !== view) return;
      this.forgetRemoved();
      this.removalFailure = outcome.failure;
    });
    this.#forgetLater();
  }

  #forgetLater(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.forgetRemoved();
    }, undoMs);
  }

  async undo(): Promise<void> {
    const view = this.removed;
    clearTimeout(this.#timer);
    await this.#removing;
    if (view === null || this.removed !== view) return;
    this.removalFailure = null;
    const outcome = await this.#api.call('connections.undoRemove', { id: view.id });
    // Main tells of its changes a moment later.
    await this.app.load();
    if (outcome.ok) {
      this.forgetRemoved();
      this.edit(view.id);
      return;
    }
    this.removalFailure = outcome.failure;
    if (outcome.failure.code === 'connection.unknown') this.forgetRemoved();
    // Main has what it needs for as long again.
    else this.#forgetLater();
  }

  /** Ends the time to undo; also called when the page is left. */
  forgetRemoved(): void {
    clearTimeout(this.#timer);
    this.removed = null;
  }

  addPolicy(name: string): void {
    const policy = name.trim();
    if (this.draft === null || policy === '' || this.draft.policies.includes(policy)) return;
    this.draft.policies.push(policy);
  }

  removePolicy(name: string): void {
    if (this.draft === null) return;
    this.draft.policies = this.draft.policies.filter((policy) => policy !== name);
    this.secret({ kind: 'policyPassword', policy: name }).clear();
  }

  addDefinition(): void {
    this.draft?.definitions.push({ name: '', label: '', kind: 'card' });
  }

  removeDefinition(index: number): void {
    this.draft?.definitions.splice(index, 1);
  }

  #secretNames({ policies, proxyUser }: ConnectionDraft): SecretName[] {
    return [
      { kind: 'apiKey' },
      ...policies.map((policy) => ({ kind: 'policyPassword', policy }) as const),
      ...(proxyUser === '' ? [] : [{ kind: 'proxyPassword' } as const]),
      ...(this.app.state?.webhooks === null ? [] : [{ kind: 'webhookSecret' } as const]),
    ];
  }

  async #storeSecret(id: string, secret: SecretName, text: TypedSecret): Promise<boolean> {
    const outcome = await this.#api.call('connections.storeSecret', { id, secret, value: text.take() });
    if (outcome.ok) return true;
    this.failure = outcome.failure;
    this.notice = '';
    this.step = 'access';
    return false;
  }

  /** Where no connection is in use, the first that can work is. */
  async #useFirst(): Promise<void> {
    const { view } = this;
    if (this.app.state?.active !== null || view === null || whyUnusable(view) !== null) return;
    const policy = usablePolicy(view);
    if (policy !== null) await this.app.choose(view.id, policy);
  }

  #clear(): void {
    for (const typed of this.#secrets.values()) typed.clear();
    this.#secrets.clear();
    this.failure = null;
    this.certificateFailure = null;
    this.test = null;
    this.asksToTest = false;
    this.notice = '';
    this.rejections = 0;
  }
}
