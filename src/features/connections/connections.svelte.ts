import type { ObscuredText } from '../../../electron/contract/obscured.ts';
import type { CallOutput } from '../../../electron/contract/calls.ts';
import type { Failure } from '../../../electron/contract/errors.ts';
import type {
  ConnectionDraft,
  ConnectionView,
  SecretName,
  SecretState,
} from '../../../electron/contract/models/connection.ts';
import type { Api } from '../../api.ts';
import type { AppStore } from '../../app-store.svelte.ts';
import { ConnectionProfileController } from './profile.svelte.ts';

const undoMs = 8_000;

export type CheckSteps = CallOutput<'connections.check'>['steps'];

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

/** Connections and the states of their secrets. A typed secret passes through to main and is not kept. */
export class ConnectionsController {
  readonly app: AppStore;
  readonly profile: ConnectionProfileController;
  readonly #api: Api;
  draft = $state<ConnectionDraft | null>(null);
  failure = $state.raw<Failure | null>(null);
  secretFailure = $state.raw<Failure | null>(null);
  /** Of the client certificate and of the sign-in to the proxy. */
  accessFailure = $state.raw<Failure | null>(null);
  checkFailure = $state.raw<Failure | null>(null);
  steps = $state.raw<CheckSteps | null>(null);
  /** Removed from the list; main removes it only when the time to undo is over. */
  removed = $state.raw<ConnectionView | null>(null);
  notice = $state('');
  #timer: ReturnType<typeof setTimeout> | undefined;

  list = $derived.by(() => (this.app.state?.connections ?? []).filter(({ id }) => id !== this.removed?.id));
  view = $derived.by(() => this.list.find(({ id }) => id === this.draft?.id) ?? null);
  /** The sentence that says why the draft can't be saved; null when it can. */
  missing = $derived.by((): string | null => {
    const draft = this.draft;
    if (draft === null) return null;
    if (draft.name.trim() === '') return 'Enter a name.';
    if (!/^https:\/\/[^\s/]/.test(draft.baseUrl)) return 'Start the URL with https://';
    if (draft.policies.length === 0) return 'Add at least one policy.';
    if (draft.definitions.length === 0) return 'Add at least one token definition.';
    if (draft.definitions.some(({ name, label }) => name.trim() === '' || label.trim() === '')) {
      return 'Every definition has a name and a label.';
    }
    return null;
  });

  constructor(app: AppStore, api: Api) {
    this.app = app;
    this.#api = api;
    this.profile = new ConnectionProfileController(app, api);
  }

  /** Called when the page opens: shows the active connection, or the first one. */
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
  }

  add(): void {
    this.#clear();
    this.draft = structuredClone(blank);
  }

  async save(): Promise<void> {
    const draft = this.draft;
    if (draft === null || this.missing !== null) return;
    const outcome = await this.#api.call('connections.save', {
      ...draft,
      baseUrl: draft.baseUrl.replace(/\/+$/, ''),
    });
    this.failure = outcome.ok ? null : outcome.failure;
    if (!outcome.ok) return;
    this.notice = 'Saved.';
    draft.id = outcome.value.id;
    if (this.app.state?.active === null) await this.app.choose(outcome.value.id, draft.policies[0] ?? '');
  }

  async storeSecret(secret: SecretName, value: ObscuredText): Promise<Failure | null> {
    const id = this.draft?.id ?? null;
    if (id === null) return null;
    const outcome = await this.#api.call('connections.storeSecret', { id, secret, value });
    this.secretFailure = outcome.ok ? null : outcome.failure;
    return this.secretFailure;
  }

  /** Sends the passphrase; main then asks for the file and never tells its path. */
  async chooseCertificate(passphrase: ObscuredText): Promise<Failure | null> {
    const id = this.draft?.id ?? null;
    if (id === null) return null;
    const outcome = await this.#api.call('connections.chooseCertificate', { id, passphrase });
    this.accessFailure = outcome.ok ? null : outcome.failure;
    return this.accessFailure;
  }

  async forgetCertificate(): Promise<void> {
    const id = this.draft?.id ?? null;
    if (id === null) return;
    const outcome = await this.#api.call('connections.forgetCertificate', { id });
    this.accessFailure = outcome.ok ? null : outcome.failure;
  }

  async storeProxyPassword(value: ObscuredText): Promise<Failure | null> {
    const id = this.draft?.id ?? null;
    if (id === null) return null;
    const secret = { kind: 'proxyPassword' } as const;
    const outcome = await this.#api.call('connections.storeSecret', { id, secret, value });
    this.accessFailure = outcome.ok ? null : outcome.failure;
    return this.accessFailure;
  }

  async check(policy: string, definition: string, token: string): Promise<void> {
    const id = this.draft?.id ?? null;
    if (id === null) return;
    this.steps = null;
    const sample = token.trim();
    const outcome = await this.#api.call('connections.check', {
      id,
      policy,
      definition: sample === '' ? null : definition,
      token: sample === '' ? null : sample,
    });
    this.checkFailure = outcome.ok ? null : outcome.failure;
    this.steps = outcome.ok ? outcome.value.steps : null;
  }

  remove(): void {
    const view = this.view;
    if (view === null) return;
    this.commitRemoval();
    this.removed = view;
    this.draft = null;
    this.#clear();
    this.#timer = setTimeout(() => {
      this.commitRemoval();
    }, undoMs);
  }

  undo(): void {
    const view = this.removed;
    clearTimeout(this.#timer);
    this.removed = null;
    if (view !== null) this.edit(view.id);
  }

  /** Ends the time to undo; also called when the page is left. */
  commitRemoval(): void {
    const view = this.removed;
    clearTimeout(this.#timer);
    if (view === null) return;
    void this.#api.call('connections.remove', { id: view.id }).then((outcome) => {
      this.failure = outcome.ok ? null : outcome.failure;
      if (this.removed?.id === view.id) this.removed = null;
    });
  }

  addPolicy(name: string): void {
    const policy = name.trim();
    if (this.draft === null || policy === '' || this.draft.policies.includes(policy)) return;
    this.draft.policies.push(policy);
  }

  removePolicy(name: string): void {
    if (this.draft !== null) this.draft.policies = this.draft.policies.filter((policy) => policy !== name);
  }

  addDefinition(): void {
    this.draft?.definitions.push({ name: '', label: '', kind: 'card' });
  }

  removeDefinition(index: number): void {
    this.draft?.definitions.splice(index, 1);
  }

  passwordState(policy: string): SecretState {
    return this.view?.policyPasswords.find((password) => password.policy === policy)?.state ?? 'missing';
  }

  #clear(): void {
    this.failure = null;
    this.secretFailure = null;
    this.accessFailure = null;
    this.checkFailure = null;
    this.steps = null;
    this.notice = '';
  }
}
