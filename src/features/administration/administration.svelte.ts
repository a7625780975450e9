import type { CallInput } from '../../../electron/contract/calls.ts';
import type { Failure, Outcome } from '../../../electron/contract/errors.ts';
import type {
  AdministrationChange,
  AdministrationState,
  DefinitionDraft,
  MadeSecret,
  PortalConfiguration,
  PortalDefinition,
  PortalPolicy,
} from '../../../electron/contract/models/administration.ts';
import type { DefinitionKind } from '../../../electron/contract/models/connection.ts';
import type { Operation } from '../../../electron/contract/operations.ts';
import type { ObscuredText } from '../../../electron/contract/obscured.ts';
import type { Api } from '../../lib/api.ts';
import type { AppStore } from '../../lib/app-store.svelte.ts';
import { formatClearing } from '../../lib/copied.ts';

export type AdministrationTab = 'definitions' | 'policies' | 'keys' | 'tools';

/** A definition being made or changed. */
export interface DefinitionForm {
  create: boolean;
  draft: DefinitionDraft;
}

/** A policy being made or changed: for each definition its operations. */
export interface PolicyForm {
  create: boolean;
  name: string;
  grants: Record<string, Operation[]>;
  makePassword: boolean;
  use: boolean;
}

/** A key being made, or the successor of one. */
export interface KeyForm {
  create: boolean;
  title: string;
  expires: string;
}

/** What the service takes where nothing is chosen; a person may leave all of it as it is. */
const definitionDefaults: Record<
  DefinitionKind,
  Pick<DefinitionDraft, 'keepFirst' | 'keepLast' | 'maskCharacter' | 'luhn' | 'maxBytes'>
> = {
  card: { keepFirst: 6, keepLast: 4, maskCharacter: '*', luhn: 'invalid', maxBytes: null },
  ssn: { keepFirst: null, keepLast: 4, maskCharacter: '*', luhn: null, maxBytes: null },
  email: { keepFirst: 1, keepLast: null, maskCharacter: '*', luhn: null, maxBytes: null },
  text: { keepFirst: 0, keepLast: 0, maskCharacter: '*', luhn: null, maxBytes: 512 },
};

/** A year from today, as a date. */
function nextYear(now: number): string {
  return new Date(now + 365 * 86_400_000).toISOString().slice(0, 10);
}

/** What an account administrator sees and changes in the portal. Holds no secret: those that are made stay in main. */
export class AdministrationController {
  readonly app: AppStore;
  readonly #api: Api;
  readonly #now: () => number;
  tab = $state<AdministrationTab>('definitions');
  /** Null until main has answered. */
  state = $state.raw<AdministrationState | null>(null);
  configuration = $state.raw<PortalConfiguration | null>(null);
  signInFailure = $state.raw<Failure | null>(null);
  /** Of loading or of the last change. */
  failure = $state.raw<Failure | null>(null);
  /** What did not work on this computer after a change at the service. */
  localFailure = $state.raw<Failure | null>(null);
  made = $state.raw<MadeSecret | null>(null);
  notice = $state('');
  loading = $state(false);

  definition = $state<DefinitionForm | null>(null);
  policy = $state<PolicyForm | null>(null);
  key = $state<KeyForm | null>(null);
  /** Name or title of what is about to be revoked, until it is confirmed. */
  revoking = $state<string | null>(null);
  /** The service's example of the definition being made, and what it was asked for. */
  preview = $state.raw<{ token: string; mask: string } | null>(null);
  previewFailure = $state.raw<Failure | null>(null);
  #previewTurn = 0;
  #connection: string | null = null;

  constructor(app: AppStore, api: Api, now: () => number = Date.now) {
    this.app = app;
    this.#api = api;
    this.#now = now;
  }

  /** Called when the page opens, when another connection is chosen, and after an unlock. */
  async show(): Promise<void> {
    const connection = this.app.connection?.id ?? null;
    if (connection !== this.#connection) this.clear();
    this.#connection = connection;
    if (connection === null) return;
    const outcome = await this.#api.call('administration.state', {});
    this.#showState(outcome);
    if (this.state?.signedIn !== true) this.#clearConfiguration();
    else if (this.configuration === null) await this.load();
  }

  /** When the app locks: main has forgotten the sign-in. */
  clear(): void {
    this.state = null;
    this.signInFailure = null;
    this.#clearConfiguration();
  }

  async signIn(user: string, password: ObscuredText): Promise<Failure | null> {
    return await this.#signIn(this.#api.call('administration.signIn', { user, password }));
  }

  /** The passphrase is the app's own; empty where none is set. */
  async signInBuiltIn(passphrase: ObscuredText): Promise<Failure | null> {
    return await this.#signIn(this.#api.call('administration.signInBuiltIn', { passphrase }));
  }

  async signOut(): Promise<void> {
    this.#clearConfiguration();
    this.#showState(await this.#api.call('administration.signOut', {}));
  }

  async load(): Promise<void> {
    this.loading = true;
    const outcome = await this.#api.call('administration.load', {});
    this.loading = false;
    this.failure = outcome.ok ? null : outcome.failure;
    if (outcome.ok) this.configuration = outcome.value;
    else await this.#reloadState(outcome.failure);
  }

  choose(tab: AdministrationTab): void {
    this.tab = tab;
    this.closeForms();
  }

  closeForms(): void {
    this.definition = null;
    this.policy = null;
    this.key = null;
    this.revoking = null;
    this.failure = null;
    this.notice = '';
    this.#dropPreview();
  }

  editDefinition(listed: PortalDefinition | null): void {
    this.closeForms();
    if (listed !== null && listed.kind === null) return;
    this.definition =
      listed === null
        ? {
            create: true,
            draft: { name: '', label: '', kind: 'card', enabled: true, ...definitionDefaults.card },
          }
        : { create: false, draft: draftOf(listed, listed.kind ?? 'text') };
  }

  /** Another kind has other parameters: its defaults. */
  chooseKind(kind: DefinitionKind): void {
    if (this.definition === null) return;
    Object.assign(this.definition.draft, { kind, ...definitionDefaults[kind] });
    this.#dropPreview();
  }

  /** Asks the service for an example of the definition as it is typed now. Shows the answer to the last question. */
  async loadPreview(): Promise<void> {
    const { definition } = this;
    if (definition === null) return;
    this.#previewTurn += 1;
    const turn = this.#previewTurn;
    // Its name has no part in the example, and may not be typed yet.
    const named = {
      name: definition.draft.name.trim() || 'example',
      label: definition.draft.label.trim() || '-',
    };
    const outcome = await this.#api.call('administration.previewDefinition', {
      ...definition.draft,
      ...named,
    });
    if (turn !== this.#previewTurn) return;
    this.preview = outcome.ok ? outcome.value : null;
    this.previewFailure = outcome.ok ? null : outcome.failure;
  }

  async saveDefinition(): Promise<void> {
    const { definition } = this;
    if (definition === null) return;
    const { create, draft } = definition;
    const label = draft.label.trim() || draft.name.trim();
    const outcome = await this.#api.call('administration.saveDefinition', {
      create,
      definition: { ...draft, name: draft.name.trim(), label },
    });
    await this.#showChange(outcome, `${label} ${create ? 'created' : 'changed'}.`);
  }

  async enableDefinition(listed: PortalDefinition, enabled: boolean): Promise<void> {
    if (listed.kind === null) return;
    this.closeForms();
    const outcome = await this.#api.call('administration.saveDefinition', {
      create: false,
      definition: { ...draftOf(listed, listed.kind), enabled },
    });
    await this.#showChange(outcome, `${listed.label} ${enabled ? 'enabled' : 'disabled'}.`);
  }

  editPolicy(listed: PortalPolicy | null): void {
    this.closeForms();
    this.policy = {
      create: listed === null,
      name: listed?.name ?? '',
      grants: Object.fromEntries(
        (listed?.grants ?? []).map(({ definition, operations }) => [definition, [...operations]]),
      ),
      makePassword: false,
      use: listed === null,
    };
  }

  grant(definition: string, operation: Operation, granted: boolean): void {
    if (this.policy === null) return;
    const others = (this.policy.grants[definition] ?? []).filter((one) => one !== operation);
    this.policy.grants[definition] = granted ? [...others, operation] : others;
  }

  async savePolicy(password: ObscuredText | null): Promise<void> {
    const { policy } = this;
    if (policy === null) return;
    const { create, makePassword, use } = policy;
    const name = policy.name.trim();
    const outcome = await this.#api.call('administration.savePolicy', {
      create,
      name,
      password: makePassword ? null : password,
      makePassword,
      // Of a policy that keeps its password, none is here to be stored.
      use: use && (makePassword || password !== null),
      grants: Object.entries(policy.grants).map(([definition, operations]) => ({ definition, operations })),
    });
    await this.#showChange(outcome, `Policy ${name} ${create ? 'created' : 'changed'}.`);
  }

  async revokePolicy(name: string): Promise<void> {
    const outcome = await this.#api.call('administration.revokePolicy', { name });
    await this.#showChange(outcome, `Policy ${name} revoked. Its sessions have ended.`);
  }

  editKey(replaced: string | null): void {
    this.closeForms();
    this.key = { create: replaced === null, title: replaced ?? '', expires: nextYear(this.#now()) };
  }

  async saveKey(): Promise<void> {
    const { key } = this;
    if (key === null) return;
    const input: CallInput<'administration.createKey'> = { title: key.title.trim(), expires: key.expires };
    const outcome = await (key.create
      ? this.#api.call('administration.createKey', input)
      : this.#api.call('administration.rotateKey', input));
    await this.#showChange(outcome, '');
  }

  async revokeKey(title: string): Promise<void> {
    const outcome = await this.#api.call('administration.revokeKey', { title });
    await this.#showChange(outcome, `API key ${title} revoked. Its sessions have ended.`);
  }

  async setToolServer(enabled: boolean): Promise<void> {
    const outcome = await this.#api.call('administration.setToolServer', { enabled });
    await this.#showChange(outcome, `Tool server ${enabled ? 'enabled' : 'disabled'}.`);
  }

  async copyMade(): Promise<void> {
    if (this.made === null) return;
    const outcome = await this.#api.call('administration.copySecret', { secretId: this.made.secretId });
    this.localFailure = outcome.ok ? null : outcome.failure;
    this.notice = outcome.ok ? `Copied. ${formatClearing(outcome.value)}` : '';
  }

  async useMade(): Promise<void> {
    if (this.made === null) return;
    const outcome = await this.#api.call('administration.useKey', { secretId: this.made.secretId });
    this.localFailure = outcome.ok ? null : outcome.failure;
    this.notice = outcome.ok ? `This connection signs in with ${this.made.of} from now on.` : '';
  }

  dismissMade(): void {
    this.made = null;
    this.localFailure = null;
    this.notice = '';
  }

  async #signIn(call: Promise<Outcome<AdministrationState>>): Promise<Failure | null> {
    const outcome = await call;
    this.signInFailure = outcome.ok ? null : outcome.failure;
    if (!outcome.ok) return outcome.failure;
    this.state = outcome.value;
    await this.load();
    return null;
  }

  async #showChange(outcome: Outcome<AdministrationChange>, notice: string): Promise<void> {
    if (!outcome.ok) {
      this.failure = outcome.failure;
      await this.#reloadState(outcome.failure);
      return;
    }
    const { configuration, made, failure } = outcome.value;
    this.closeForms();
    this.configuration = configuration;
    this.localFailure = failure;
    this.made = made;
    this.notice = notice;
  }

  #showState(outcome: Outcome<AdministrationState>): void {
    this.state = outcome.ok ? outcome.value : null;
    this.signInFailure = outcome.ok ? null : outcome.failure;
  }

  /** The sign-in has ended, or the user may not do this: signing in again is what helps. */
  async #reloadState({ code }: Failure): Promise<void> {
    if (code !== 'portal.expired' && code !== 'portal.sign-in' && code !== 'portal.role') return;
    if (code === 'portal.role') await this.#api.call('administration.signOut', {});
    const failure = this.failure;
    this.#clearConfiguration();
    this.#showState(await this.#api.call('administration.state', {}));
    this.signInFailure ??= failure;
  }

  #clearConfiguration(): void {
    this.closeForms();
    this.configuration = null;
    this.made = null;
    this.localFailure = null;
  }

  #dropPreview(): void {
    this.#previewTurn += 1;
    this.preview = null;
    this.previewFailure = null;
  }
}

function draftOf(listed: PortalDefinition, kind: DefinitionKind): DefinitionDraft {
  const { luhn, maskCharacter } = listed;
  return {
    ...listed,
    kind,
    luhn: luhn === 'valid' || luhn === 'invalid' || luhn === 'any' ? luhn : null,
    maskCharacter: maskCharacter?.length === 1 ? maskCharacter : null,
  };
}
