import type { Failure, Outcome } from '../../../electron/contract/errors.ts';
import type { Source } from '../../../electron/contract/models/batch.ts';
import type { Lookup } from '../../../electron/contract/models/lookup.ts';
import { newXorKey, type ObscuredText } from '../../../electron/contract/obscured.ts';
import type { AppStore } from '../../app-store.svelte.ts';
import { pastedLines, tidy } from '../../token-text.ts';

/** A failed request, as far as it is known; '' is not known. */
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

/** One value at a time: mask, reveal, copy, translate, tokenize. Never holds cleartext; the exposure does. */
export class LookupController {
  readonly app: AppStore;
  mode = $state<'token' | 'cleartext'>('token');
  input = $state('');
  chosen = $state('');
  /** What tidying removed, said under the field. */
  removed = $state<string | null>(null);
  /** Several lines that were pasted; they wait here until made a batch or dropped. */
  pasted = $state.raw<{ text: string; lines: number } | null>(null);
  /** What is to be tried again, until the value for it was entered. */
  retry = $state.raw<LookupRetry | null>(null);
  current = $state.raw<Lookup | null>(null);
  recent = $state.raw<Lookup[]>([]);
  panel = $state<LookupPanel | null>(null);
  target = $state({ policy: '', definition: '' });
  failure = $state.raw<Failure | null>(null);
  panelFailure = $state.raw<Failure | null>(null);
  said = $state('');
  busy = $state(false);
  #turn = 0;
  readonly #makeBatch: (source: Source) => void;

  definition = $derived.by(() => this.app.definition(this.chosen || (this.app.definitions[0]?.name ?? '')));
  /** Earlier lookups, the latest first, gathered by case in the order of their latest. */
  cases = $derived.by(() => byCase(this.recent));
  isRevealed = $derived.by(
    () => this.current !== null && this.app.revealed.now?.subject === `lookup:${this.current.id}`,
  );

  constructor(app: AppStore, makeBatch: (source: Source) => void) {
    this.app = app;
    this.#makeBatch = makeBatch;
  }

  async load(): Promise<void> {
    const outcome = await this.app.api.call('lookup.recent', {});
    if (outcome.ok) this.recent = outcome.value;
  }

  /** Nothing of the work in hand outlasts a lock but what main keeps. */
  clear(): void {
    this.#turn += 1;
    this.input = '';
    this.removed = null;
    this.pasted = null;
    this.retry = null;
    this.panel = null;
    this.failure = null;
    this.panelFailure = null;
    this.said = '';
    this.current = null;
    this.busy = false;
  }

  /** Fills in what is known of a failed request: the policy in use too, since the answer hangs on it. */
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

  /** True when the paste was taken over: several lines are offered as a batch, one line is tidied. */
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
    const outcome = await this.app.api.call('batch.paste', { text: this.pasted.text });
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
    const isFound = await this.#take(() =>
      this.app.api.call('lookup.mask', {
        policy: this.app.policy,
        definition: this.definition.name,
        token: text,
        caseReference: this.app.caseReference.trim(),
      }),
    );
    // The token is there again: what failed with it is one step away.
    if (isFound && operation === 'Detokenize') this.open('reveal');
    if (isFound && operation === 'Translate') this.open('translate');
    return isFound;
  }

  /** `cleartext` is obscured and tidied where it was typed. */
  async tokenize(cleartext: ObscuredText): Promise<boolean> {
    return await this.#take(() =>
      this.app.api.call('lookup.tokenize', {
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
    const outcome = await this.app.api.call('lookup.translate', {
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
    this.said = '';
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

  /** Shows or hides: one key for both. */
  toggle(): void {
    if (this.isRevealed) this.app.revealed.hide();
    else this.open('reveal');
  }

  async reveal(): Promise<void> {
    const lookup = this.current;
    if (lookup === null) return;
    const xorKey = newXorKey();
    const outcome = await this.app.api.call('lookup.reveal', {
      lookupId: lookup.id,
      xorKey,
      ...this.#reason(),
    });
    if (!outcome.ok) {
      this.panelFailure = outcome.failure;
      return;
    }
    // Locked or gone elsewhere meanwhile: it is not shown for a moment, and main is told that it need not wait.
    if (this.app.locked || this.current?.id !== lookup.id) {
      await this.app.api.call('lookup.hide', { revealId: outcome.value.revealId });
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
    const outcome = await this.app.api.call(
      'lookup.copy',
      what === 'cleartext' ? { what, lookupId: lookup.id, ...this.#reason() } : { what, lookupId: lookup.id },
    );
    if (!outcome.ok) {
      if (what === 'cleartext') this.panelFailure = outcome.failure;
      else this.failure = outcome.failure;
      return;
    }
    const words = { masked: 'Mask', token: 'Token', cleartext: 'Cleartext' }[what];
    this.said = `${words} copied. The clipboard is cleared in ${Math.round(outcome.value.clearAfterMs / 1_000)} s.`;
    if (what === 'cleartext') this.close();
  }

  pick(lookup: Lookup): void {
    if (this.current?.id !== lookup.id) this.app.revealed.hide();
    this.close();
    this.said = '';
    this.failure = null;
    this.removed = null;
    this.retry = null;
    this.mode = 'token';
    this.current = lookup;
    this.input = lookup.token;
    if (this.app.definitions.some(({ name }) => name === lookup.definition)) this.chosen = lookup.definition;
  }

  /** +1 is one earlier, -1 one later, among the lookups of the case in hand. */
  walk(step: 1 | -1): void {
    const reference = this.app.caseReference.trim();
    const list = this.recent.filter((lookup) => reference === '' || lookup.caseReference === reference);
    const at = list.findIndex(({ id }) => id === this.current?.id);
    const next = list[at === -1 ? (step === 1 ? 0 : -1) : at + step];
    if (next !== undefined) this.pick(next);
  }

  async forget(): Promise<void> {
    const outcome = await this.app.api.call('lookup.forget', {});
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

  async #take(run: () => Promise<Outcome<Lookup>>): Promise<boolean> {
    this.#turn += 1;
    const turn = this.#turn;
    this.app.revealed.hide();
    this.close();
    this.pasted = null;
    this.said = '';
    this.busy = true;
    const outcome = await run();
    // Only the latest question may answer: an older one that comes late would show another token's mask.
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

/** Gathered by case, the cases in the order of their latest lookup. */
export function byCase(lookups: Lookup[]): CaseGroup[] {
  const groups = new Map<string, Lookup[]>();
  for (const lookup of lookups) {
    const known = groups.get(lookup.caseReference);
    if (known === undefined) groups.set(lookup.caseReference, [lookup]);
    else known.push(lookup);
  }
  return [...groups].map(([caseReference, of]) => ({ caseReference, lookups: of }));
}
