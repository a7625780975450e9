import type { Failure, Outcome } from '../../../electron/contract/errors.ts';
import type { Source } from '../../../electron/contract/models/batch.ts';
import type { Lookup } from '../../../electron/contract/models/lookup.ts';
import { newXorKey, type ObscuredText } from '../../../electron/contract/obscured.ts';
import type { Api } from '../../api.ts';
import type { AppStore } from '../../app-store.svelte.ts';
import { pastedLines, tidy } from '../../token-text.ts';

/** A failed request of the reports that is to be tried again; '' is what the report does not tell. */
export interface LookupRetry {
  operation: 'Tokenize' | 'Detokenize' | 'GetMasked' | 'Translate';
  definition: string;
  policy: string;
}

const operationLabels = {
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

/** One value at a time: mask, reveal, copy, translate, tokenize. Never holds cleartext; `app.revealed` does. */
export class LookupController {
  readonly app: AppStore;
  readonly #api: Api;
  mode = $state<'token' | 'cleartext'>('token');
  input = $state('');
  chosen = $state('');
  /** What was removed from the input, shown under the field. */
  removed = $state<string | null>(null);
  /** Several pasted lines, until they are made a batch or dropped. */
  pasted = $state.raw<{ text: string; lines: number } | null>(null);
  /** The failed request to try again, until its value is entered. */
  retry = $state.raw<LookupRetry | null>(null);
  current = $state.raw<Lookup | null>(null);
  recent = $state.raw<Lookup[]>([]);
  panel = $state<LookupPanel | null>(null);
  target = $state({ policy: '', definition: '' });
  failure = $state.raw<Failure | null>(null);
  panelFailure = $state.raw<Failure | null>(null);
  notice = $state('');
  busy = $state(false);
  #turn = 0;
  readonly #makeBatch: (source: Source) => void;

  definition = $derived.by(() => this.app.definition(this.chosen || (this.app.definitions[0]?.name ?? '')));
  /** Earlier lookups by case, the latest first. */
  cases = $derived.by(() => byCase(this.recent));
  isRevealed = $derived.by(
    () => this.current !== null && this.app.revealed.now?.subject === `lookup:${this.current.id}`,
  );

  constructor(app: AppStore, api: Api, makeBatch: (source: Source) => void) {
    this.app = app;
    this.#api = api;
    this.#makeBatch = makeBatch;
  }

  async load(): Promise<void> {
    const outcome = await this.#api.call('lookup.recent', {});
    if (outcome.ok) this.recent = outcome.value;
  }

  /** Drops everything but the list of recent lookups, which main keeps. Called when the app locks. */
  clear(): void {
    this.#turn += 1;
    this.input = '';
    this.removed = null;
    this.pasted = null;
    this.retry = null;
    this.panel = null;
    this.failure = null;
    this.panelFailure = null;
    this.notice = '';
    this.current = null;
    this.busy = false;
  }

  /** Fills in what is known of a failed request and chooses its policy, since the answer depends on the policy. */
  async tryAgain(retry: LookupRetry): Promise<void> {
    this.app.revealed.hide();
    this.clear();
    this.mode = retry.operation === 'Tokenize' ? 'cleartext' : 'token';
    const { connection } = this.app;
    const isKnown = connection?.policies.includes(retry.policy) === true;
    this.retry = { ...retry, policy: isKnown ? retry.policy : '' };
    if (this.app.definitions.some(({ name }) => name === retry.definition)) this.chosen = retry.definition;
    if (isKnown && retry.policy !== this.app.policy) await this.app.choose(connection.id, retry.policy);
  }

  /** True when the paste was handled: several lines are offered as a batch, one line is tidied. */
  paste(text: string): boolean {
    const lines = pastedLines(text);
    if (lines > 1) {
      this.pasted = { text, lines };
      return true;
    }
    const tidied = tidy(text, this.definition.kind);
    this.pasted = null;
    this.input = tidied.text;
    this.removed = tidied.removed;
    return true;
  }

  typed(): void {
    this.removed = null;
  }

  async batchPasted(): Promise<void> {
    if (this.pasted === null) return;
    const outcome = await this.#api.call('batch.paste', { text: this.pasted.text });
    if (!outcome.ok) {
      this.failure = outcome.failure;
      return;
    }
    this.pasted = null;
    this.#makeBatch(outcome.value);
  }

  async mask(): Promise<boolean> {
    const { text, removed } = tidy(this.input, this.definition.kind);
    if (removed !== null) this.removed = removed;
    this.input = text;
    if (text === '') return false;
    const operation = this.retry?.operation;
    const isFound = await this.#show(() =>
      this.#api.call('lookup.mask', {
        policy: this.app.policy,
        definition: this.definition.name,
        token: text,
        caseReference: this.app.caseReference.trim(),
      }),
    );
    // The token is there again: opens the panel of the operation that failed.
    if (isFound && operation === 'Detokenize') this.open('reveal');
    if (isFound && operation === 'Translate') this.open('translate');
    return isFound;
  }

  /** `cleartext` is obscured and tidied where it was typed. */
  async tokenize(cleartext: ObscuredText): Promise<boolean> {
    return await this.#show(() =>
      this.#api.call('lookup.tokenize', {
        policy: this.app.policy,
        definition: this.definition.name,
        cleartext,
        caseReference: this.app.caseReference.trim(),
      }),
    );
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
    this.chosen = outcome.value.definition;
    this.input = outcome.value.token;
    await this.load();
    return true;
  }

  open(panel: LookupPanel): void {
    if (this.current === null) return;
    this.panelFailure = null;
    this.notice = '';
    if (panel === 'translate') {
      const other = this.app.definitions.find(({ name }) => name !== this.current?.definition);
      this.target = { policy: this.app.policy, definition: other?.name ?? '' };
    }
    if (this.app.caseReference === '') this.app.caseReference = this.current.caseReference;
    this.panel = panel;
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
      ...this.#reason(),
    });
    if (!outcome.ok) {
      this.panelFailure = outcome.failure;
      return;
    }
    // The app was locked or another lookup was opened meanwhile: the value must not be shown, and main ends the reveal.
    if (this.app.locked || this.current?.id !== lookup.id) {
      await this.#api.call('lookup.hide', { revealId: outcome.value.revealId });
      return;
    }
    const { kind } = this.app.definition(lookup.definition);
    this.app.revealed.show({ ...outcome.value, xorKey }, `lookup:${lookup.id}`, kind);
    this.close();
    await this.load();
  }

  async copy(what: 'masked' | 'token' | 'cleartext'): Promise<void> {
    const lookup = this.current;
    if (lookup === null) return;
    const outcome = await this.#api.call(
      'lookup.copy',
      what === 'cleartext' ? { what, lookupId: lookup.id, ...this.#reason() } : { what, lookupId: lookup.id },
    );
    if (!outcome.ok) {
      if (what === 'cleartext') this.panelFailure = outcome.failure;
      else this.failure = outcome.failure;
      return;
    }
    const label = { masked: 'Mask', token: 'Token', cleartext: 'Cleartext' }[what];
    this.notice = `${label} copied. The clipboard is cleared in ${Math.round(outcome.value.clearAfterMs / 1_000)} s.`;
    if (what === 'cleartext') this.close();
  }

  pick(lookup: Lookup): void {
    if (this.current?.id !== lookup.id) this.app.revealed.hide();
    this.close();
    this.notice = '';
    this.failure = null;
    this.removed = null;
    this.retry = null;
    this.mode = 'token';
    this.current = lookup;
    this.input = lookup.token;
    if (this.app.definitions.some(({ name }) => name === lookup.definition)) this.chosen = lookup.definition;
  }

  /** +1 goes to the earlier lookup of the present case, -1 to the later one. */
  walk(step: 1 | -1): void {
    const reference = this.app.caseReference.trim();
    const list = this.recent.filter((lookup) => reference === '' || lookup.caseReference === reference);
    const at = list.findIndex(({ id }) => id === this.current?.id);
    const next = list[at === -1 ? (step === 1 ? 0 : -1) : at + step];
    if (next !== undefined) this.pick(next);
  }

  async forget(): Promise<void> {
    const outcome = await this.#api.call('lookup.forget', {});
    if (!outcome.ok) {
      this.failure = outcome.failure;
      return;
    }
    this.app.revealed.hide();
    this.clear();
    this.recent = [];
  }

  #reason(): { reason: string; caseReference: string } {
    return { reason: this.app.reason.trim(), caseReference: this.app.caseReference.trim() };
  }

  async #show(run: () => Promise<Outcome<Lookup>>): Promise<boolean> {
    this.#turn += 1;
    const turn = this.#turn;
    this.app.revealed.hide();
    this.close();
    this.pasted = null;
    this.notice = '';
    this.busy = true;
    const outcome = await run();
    // Only the latest request counts: a late answer would show the mask of another token.
    if (turn !== this.#turn) return false;
    this.busy = false;
    this.failure = outcome.ok ? null : outcome.failure;
    this.current = outcome.ok ? outcome.value : null;
    if (outcome.ok) this.retry = null;
    if (outcome.ok) await this.load();
    return outcome.ok;
  }
}

export interface CaseGroup {
  caseReference: string;
  lookups: Lookup[];
}

/** Groups lookups by case; the cases are in the order of their latest lookup. */
export function byCase(lookups: Lookup[]): CaseGroup[] {
  const groups = new Map<string, Lookup[]>();
  for (const lookup of lookups) {
    const known = groups.get(lookup.caseReference);
    if (known === undefined) groups.set(lookup.caseReference, [lookup]);
    else known.push(lookup);
  }
  return [...groups].map(([caseReference, of]) => ({ caseReference, lookups: of }));
}
