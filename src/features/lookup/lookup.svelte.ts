import type { Failure, Outcome } from '../../../electron/contract/errors.ts';
import type { TokenDefinition } from '../../../electron/contract/models/connection.ts';
import type { Source } from '../../../electron/contract/models/batch.ts';
import type { Lookup } from '../../../electron/contract/models/lookup.ts';
import type { SingleOperation } from '../../../electron/contract/operations.ts';
import { newXorKey, type ObscuredText } from '../../../electron/contract/obscured.ts';
import type { Api } from '../../lib/api.ts';
import type { AppStore } from '../../lib/app-store.svelte.ts';
import { ConnectionFailure } from '../../lib/connection-failure.svelte.ts';
import { tidy } from '../../lib/token-text.ts';
import { CasesController } from './cases.svelte.ts';
import { LookupField } from './lookup-field.svelte.ts';

/** A failed request of the reports that is to be tried again; '' is what the report does not tell. */
export interface LookupRetry {
  operation: SingleOperation;
  definition: string;
  policy: string;
}

const operationLabels: Record<SingleOperation, string> = {
  Tokenize: 'Tokenize',
  Detokenize: 'Reveal',
  GetMasked: 'Look up',
  Translate: 'Translate',
};

export function formatRetry({ operation, definition, policy }: LookupRetry, app: AppStore): string {
  const parts = [operationLabels[operation]];
  if (definition !== '') parts.push(app.definition(definition).label);
  if (policy !== '') parts.push(`policy ${policy}`);
  return parts.join(' · ');
}

export type LookupPanel = 'reveal' | 'copy' | 'translate';

/** What is on the clipboard, until it is cleared from it. */
export interface Copied {
  what: 'masked' | 'token' | 'cleartext';
  until: number;
  /** Cleared then only if the window has the focus, else when it has it again. */
  needsFocus: boolean;
}

/** What Enter in the field led to. */
export type Submitted = 'found' | 'card' | 'case' | 'unlikely' | 'nothing';

/** One value at a time: mask, reveal, copy, translate, tokenize. Never holds cleartext; `app.revealed` does. */
export class LookupController {
  readonly app: AppStore;
  readonly #api: Api;
  readonly field: LookupField;
  readonly cases: CasesController;
  #mode = $state<'token' | 'cleartext'>('token');
  /** The failed request to try again, until its value is entered. */
  retry = $state.raw<LookupRetry | null>(null);
  #current = $state.raw<Lookup | null>(null);
  /** Of this run, by every connection: a case may have been worked on with several. */
  lookups = $state.raw<Lookup[]>([]);
  panel = $state<LookupPanel | null>(null);
  target = $state({ policy: '', definition: '' });
  /** The case given in a panel; it becomes the case in hand when the act it was given for succeeds. */
  caseReference = $state('');
  readonly #failure: ConnectionFailure;
  panelFailure = $state.raw<Failure | null>(null);
  copied = $state.raw<Copied | null>(null);
  /** Read aloud by a screen reader; never a value in clear. */
  announced = $state('');
  busy = $state(false);
  /** Something was found: its result takes the focus, so that letters are shortcuts and the next digit a new token. */
  wantsFocus = $state(false);
  #turn = 0;
  readonly #makeBatch: (source: Source) => void;

  mode = $derived(this.#mode);
  definition = $derived.by(() =>
    this.#mode === 'token' ? this.field.definition : this.field.lastDefinition,
  );
  /** Those of the connection in use: only these can be worked on. */
  recent = $derived.by(() =>
    this.lookups.filter(({ connectionId }) => connectionId === this.app.connection?.id),
  );
  /** The lookups of the case in hand; without one all of them. */
  listed = $derived.by(() =>
    this.recent.filter(
      ({ caseReference }) => this.cases.current === '' || caseReference === this.cases.current,
    ),
  );
  /** Definitions that the present token may be translated to. */
  targets = $derived.by(() => this.#targetsOf(this.current));
  isRevealed = $derived.by(
    () => this.current !== null && this.app.revealed.now?.subject === `lookup:${this.current.id}`,
  );

  /** The policy that may do what the one in use was refused. */
  allowedPolicy = $derived.by(() => {
    if (this.failure?.code !== 'service.refused') return null;
    const operation = this.#mode === 'token' ? 'GetMasked' : 'Tokenize';
    return this.app.allowedPolicy(operation, this.definition.name);
  });
  /** What is entered is another token than that of the result. */
  isOutdated = $derived.by(() => {
    const { hasCard, text } = this.field;
    if (this.current === null || this.#mode !== 'token') return false;
    const { kind } = this.app.definition(this.current.definition);
    return hasCard || (text.trim() !== '' && tidy(text, kind).text !== this.current.token);
  });

  /** The result; null with another connection than the one it was made by, which could do nothing with it. */
  get current(): Lookup | null {
    return this.#current?.connectionId === this.app.connection?.id ? this.#current : null;
  }

  set current(lookup: Lookup | null) {
    this.#current = lookup;
  }

  get failure(): Failure | null {
    return this.#failure.current;
  }

  set failure(failure: Failure | null) {
    this.#failure.current = failure;
  }

  constructor(app: AppStore, api: Api, makeBatch: (source: Source) => void) {
    this.app = app;
    this.#failure = new ConnectionFailure(app);
    this.#api = api;
    this.#makeBatch = makeBatch;
    this.cases = new CasesController(app, api);
    this.field = new LookupField(app, (text) => this.cases.find(text, this.recent));
  }

  async load(): Promise<void> {
    const outcome = await this.#api.call('lookup.recent', {});
    if (outcome.ok) this.lookups = outcome.value;
  }

  /** The list and the timeline, after something was done. */
  async reload(): Promise<void> {
    await Promise.all([this.load(), this.cases.load()]);
  }

  /** Drops everything but the list of recent lookups, which main keeps. */
  clear(): void {
    this.#turn += 1;
    this.field.clear();
    this.retry = null;
    this.close();
    this.failure = null;
    this.copied = null;
    this.announced = '';
    this.current = null;
    this.busy = false;
  }

  /** A failure of the other way of entering a value says nothing about this one. */
  setMode(mode: 'token' | 'cleartext'): void {
    this.#mode = mode;
    this.failure = null;
  }

  chooseDefinition(name: string): void {
    this.field.choose(name);
    this.failure = null;
  }

  /** Fills in what is known of a failed request and chooses its policy, since the answer depends on the policy. */
  async tryAgain(retry: LookupRetry): Promise<void> {
    this.app.revealed.hide();
    this.clear();
    this.#mode = retry.operation === 'Tokenize' ? 'cleartext' : 'token';
    const { connection } = this.app;
    const isKnown = connection?.policies.includes(retry.policy) === true;
    this.retry = { ...retry, policy: isKnown ? retry.policy : '' };
    if (this.app.definitions.some(({ name }) => name === retry.definition))
      this.field.choose(retry.definition);
    if (isKnown && retry.policy !== this.app.policy) await this.app.choose(connection.id, retry.policy);
  }

  paste(text: string): void {
    this.close();
    this.failure = null;
    this.field.paste(text);
  }

  async batchPasted(): Promise<void> {
    const { pasted } = this.field;
    if (pasted === null) return;
    const outcome = await this.#api.call('batch.paste', { text: pasted.text });
    if (!outcome.ok) {
      this.failure = outcome.failure;
      return;
    }
    this.field.pasted = null;
    this.#makeBatch(outcome.value);
  }

  /** Does what the field's text is for. A card number and what can hardly be a token are not sent. */
  async submit(): Promise<Submitted> {
    const { field } = this;
    if (field.hasCard) return 'card';
    if (field.caseReference !== null) {
      await this.openCase(field.caseReference);
      return 'case';
    }
    if (field.flaw !== null) return 'unlikely';
    return (await this.mask()) ? 'found' : 'nothing';
  }

  /** Of a longer text what is of use: the case is opened, and the token stands in the field, not sent yet. */
  async takeMentioned(): Promise<void> {
    const { mentioned } = this.field;
    if (mentioned === null) return;
    const { token, caseReference } = mentioned;
    if (caseReference !== null) await this.openCase(caseReference);
    if (token !== null) this.field.paste(token);
  }

  async openCase(caseReference: string): Promise<void> {
    this.field.clear();
    this.failure = null;
    await this.cases.open(caseReference);
    this.announced = `Case ${this.cases.current} is open.`;
  }

  async closeCase(): Promise<void> {
    const isOfCase = this.current?.caseReference === this.cases.current;
    if (!(await this.cases.close(this.lookups))) return;
    this.app.revealed.hide();
    if (isOfCase) this.clear();
    this.announced = `Case ${this.cases.closed?.caseReference ?? ''} is closed.`;
    await this.load();
  }

  /** Looks up what is in the field, whatever it looks like. `isAgain`: why it failed stays until there is an answer. */
  async mask({ isAgain = false } = {}): Promise<boolean> {
    const { field } = this;
    const looksLikeCard = field.hasCard;
    const token = looksLikeCard ? field.takeAsToken() : field.tidy();
    if (token === '') return false;
    const { name: definition } = field.definition;
    const operation = this.retry?.operation;
    const isFound = await this.#show(
      () =>
        this.#api.call('lookup.mask', {
          policy: this.app.policy,
          definition,
          token,
          caseReference: this.cases.current,
        }),
      () => {
        // Unless something else was typed meanwhile.
        if (looksLikeCard && field.takeAsToken() === token) field.show(token, definition);
        field.found(definition);
      },
      isAgain,
    );
    // The token is there again: opens the panel of the operation that failed.
    if (isFound && operation === 'Detokenize') this.open('reveal');
    if (isFound && operation === 'Translate') this.open('translate');
    return isFound;
  }

  /** `cleartext` is obscured and tidied where it was typed. The field then has the token made of it. */
  async tokenize(cleartext: ObscuredText, definition = this.definition.name): Promise<boolean> {
    return await this.#show(
      () =>
        this.#api.call('lookup.tokenize', {
          policy: this.app.policy,
          definition,
          cleartext,
          caseReference: this.cases.current,
        }),
      ({ token, definition: made }) => {
        this.field.show(token, made);
      },
    );
  }

  /** Looks the token up again under another policy, which may do more. */
  async usePolicy(policy: string): Promise<void> {
    const { connection } = this.app;
    if (connection === null) return;
    await this.app.choose(connection.id, policy);
    this.failure = this.app.failure;
    if (this.failure === null && this.#mode === 'token') await this.mask();
  }

  /** Makes a token of what is in the field for tokens, where that is a value. */
  async tokenizeInstead(): Promise<boolean> {
    const { name } = this.field.definition;
    return await this.tokenize(this.field.takeValue(), name);
  }

  /** Looks up a token of the built-in service, for somebody who has none. */
  async trySample(): Promise<boolean> {
    const outcome = await this.#api.call('lookup.sample', {});
    if (!outcome.ok) {
      this.failure = outcome.failure;
      return false;
    }
    this.#mode = 'token';
    this.field.show(outcome.value.token, outcome.value.definition);
    return await this.mask();
  }

  async translate(): Promise<boolean> {
    const lookup = this.current;
    if (lookup === null) return false;
    const outcome = await this.#api.call('lookup.translate', {
      lookupId: lookup.id,
      targetPolicy: this.target.policy,
      targetDefinition: this.target.definition,
    });
    if (!outcome.ok) {
      this.panelFailure = outcome.failure;
      return false;
    }
    this.app.revealed.hide();
    this.panel = null;
    this.current = outcome.value;
    this.wantsFocus = true;
    this.announced = 'Translated.';
    this.field.show(outcome.value.token, outcome.value.definition);
    await this.reload();
    return true;
  }

  open(panel: LookupPanel): void {
    if (this.current === null) return;
    this.panelFailure = null;
    if (panel === 'translate') {
      if (this.targets.length === 0) return;
      this.translateTo(this.targets[0]?.name ?? '');
    }
    this.caseReference = this.cases.current === '' ? this.current.caseReference : this.cases.current;
    this.panel = panel;
  }

  /** Chooses the definition to translate to, and the first policy that may where the present one may not. */
  translateTo(definition: string): void {
    this.target = { policy: this.app.policyFor('Translate', definition), definition };
  }

  close(): void {
    this.panel = null;
    this.panelFailure = null;
  }

  /** Reveals or hides: one shortcut for both. */
  toggle(): void {
    if (this.isRevealed) this.app.revealed.hide();
    else this.open('reveal');
  }

  async reveal(): Promise<void> {
    const lookup = this.current;
    if (lookup === null) return;
    const xorKey = newXorKey();
    const outcome = await this.#api.call('lookup.reveal', {
      lookupId: lookup.id,
      xorKey,
      ...this.app.grounds(null, this.caseReference),
    });
    if (!outcome.ok) {
      this.panelFailure = outcome.failure;
      return;
    }
    const { lookup: revealed } = outcome.value;
    this.lookups = this.lookups.map((listed) => (listed.id === revealed.id ? revealed : listed));
    // The app was locked or another lookup was opened meanwhile: the value must not be shown, and main ends the reveal.
    if (this.app.locked || this.current?.id !== lookup.id) {
      await this.#api.call('lookup.hide', { revealId: outcome.value.revealId });
      return;
    }
    const { kind } = this.app.definition(lookup.definition);
    this.current = revealed;
    this.app.revealed.show({ ...outcome.value, xorKey }, `lookup:${lookup.id}`, kind);
    this.announced = `Shown in clear for ${Math.round(outcome.value.hideAfterMs / 1_000)} seconds.`;
    this.close();
    await this.#openActCase();
  }

  /** Told by the page when the value has left the screen, whatever ended it. */
  hidden(): void {
    this.announced = 'Hidden.';
  }

  async copy(what: 'masked' | 'token' | 'cleartext'): Promise<void> {
    const lookup = this.current;
    if (lookup === null) return;
    const outcome = await this.#api.call(
      'lookup.copy',
      what === 'cleartext'
        ? { what, lookupId: lookup.id, ...this.app.grounds(null, this.caseReference) }
        : { what, lookupId: lookup.id },
    );
    if (!outcome.ok) {
      if (what === 'cleartext') this.panelFailure = outcome.failure;
      else this.failure = outcome.failure;
      return;
    }
    const { clearAfterMs, needsFocus = false } = outcome.value;
    this.copied = { what, until: Date.now() + clearAfterMs, needsFocus };
    this.announced = `${copiedLabels[what]} copied.`;
    if (what !== 'cleartext') return;
    this.close();
    await Promise.all([this.load(), this.#openActCase()]);
    const filed = this.recent.find(({ id }) => id === lookup.id);
    if (filed !== undefined && this.current?.id === lookup.id) this.current = filed;
  }

  async clearClipboard(): Promise<void> {
    const outcome = await this.#api.call('lookup.clearClipboard', {});
    if (!outcome.ok) {
      this.failure = outcome.failure;
      return;
    }
    this.copied = null;
    this.announced = 'Clipboard cleared.';
  }

  pick(lookup: Lookup): void {
    if (this.current?.id !== lookup.id) this.app.revealed.hide();
    this.close();
    this.failure = null;
    this.retry = null;
    this.#mode = 'token';
    this.current = lookup;
    this.field.show(lookup.token, lookup.definition);
  }

  /** +1 goes to the earlier lookup of the present case, -1 to the later one. */
  walk(step: 1 | -1): void {
    const list = this.listed;
    const at = list.findIndex(({ id }) => id === this.current?.id);
    const next = list[at === -1 ? (step === 1 ? 0 : -1) : at + step];
    if (next !== undefined) this.pick(next);
  }

  async forget(): Promise<void> {
    const outcome = await this.#api.call('lookup.forget', { caseReference: null });
    if (!outcome.ok) {
      this.failure = outcome.failure;
      return;
    }
    this.app.revealed.hide();
    this.clear();
    this.lookups = [];
  }

  /** The case of the act that was just done is the one in hand. */
  async #openActCase(): Promise<void> {
    await this.cases.open(this.caseReference.trim() || this.cases.current);
  }

  #targetsOf(lookup: Lookup | null): TokenDefinition[] {
    if (lookup === null) return [];
    return this.app
      .translateTargets(lookup.definition)
      .filter(({ name }) =>
        this.app.policyOptions('Translate', name).some(({ disabled }) => disabled !== true),
      );
  }

  /** `onShown` is called with the result in the same turn: later, somebody may have typed the next token. */
  async #show(
    run: () => Promise<Outcome<Lookup>>,
    onShown: (lookup: Lookup) => void,
    isAgain = false,
  ): Promise<boolean> {
    this.#turn += 1;
    const turn = this.#turn;
    this.app.revealed.hide();
    this.close();
    this.field.pasted = null;
    if (!isAgain) this.failure = null;
    this.busy = true;
    this.wantsFocus = false;
    const { edits } = this.field.typed;
    const outcome = await run();
    // Only the latest request counts: a late answer would show the mask of another token.
    if (turn !== this.#turn) return false;
    this.busy = false;
    // Nobody is typing the next one. It is said before anything else is awaited: the focus that moves later takes an
    // Enter that was meant for the field.
    this.wantsFocus = outcome.ok && edits === this.field.typed.edits;
    this.failure = outcome.ok ? null : outcome.failure;
    this.current = outcome.ok ? outcome.value : null;
    if (!outcome.ok) return false;
    this.retry = null;
    this.announced = kindAnnouncements[outcome.value.kind];
    onShown(outcome.value);
    await this.reload();
    return true;
  }
}

const kindAnnouncements: Record<Lookup['kind'], string> = {
  masked: 'Found. The value is masked.',
  tokenized: 'Tokenized.',
  translated: 'Translated.',
};

export const copiedLabels: Record<Copied['what'], string> = {
  masked: 'Masked value',
  token: 'Token',
  cleartext: 'Cleartext',
};
