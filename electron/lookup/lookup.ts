import type { CallInput, Handlers } from '../contract/calls.ts';
import { type Outcome, failed, done } from '../contract/errors.ts';
import type { Connection } from '../contract/models/connection.ts';
import type { Lookup, Grounds } from '../contract/models/lookup.ts';
import { obscureText, restoreText } from '../contract/obscured.ts';
import { cleartext, noteCleartext, openCleartext, type Cleartext } from '../util/cleartext.ts';
import { maskAgain, maskNumbers } from '../masking/masking.ts';
import type { CleartextGate } from '../privacy/cleartext-act.ts';
import type { AutoClearClipboard } from '../privacy/clipboard.ts';
import type { Reveals } from '../privacy/reveals.ts';
import type { TokenHashes } from '../privacy/token-hashes.ts';
import type { Answer, RecordedAct, ServiceClient } from '../service/service-client.ts';
import { beforeOthers } from '../util/turns.ts';

/** The connection in use, with what the audit log says of it. */
export interface ActiveConnection {
  readonly connectionId: string;
  readonly name: string;
  readonly environment: string;
  readonly builtIn: boolean;
  readonly definitions: Connection['definitions'];
  readonly client: ServiceClient;
}

export interface LookupOptions {
  /** The connection in use, ready to be asked: the built-in service is started for it. */
  readonly active: () => Promise<Outcome<ActiveConnection>>;
  readonly gate: Pick<CleartextGate, 'open'>;
  readonly reveals: Pick<Reveals, 'open' | 'hide' | 'hidden'>;
  readonly clipboard: Pick<AutoClearClipboard, 'epoch' | 'write' | 'clear'>;
  readonly hashes: Pick<TokenHashes, 'of'>;
  readonly now: () => Date;
  readonly newId: () => string;
}

/** A lookup of the connection in use. */
interface KnownLookup {
  readonly lookup: Lookup;
  readonly active: ActiveConnection;
}

/** Enough for a day of disputes; the oldest is dropped first. */
const maxRecent = 200;
const maxRequestIds = 50;

/** A test number that belongs to nobody, and who may tokenize it in the built-in service. */
const sample = { policy: 'analyst', definition: 'card-number', cleartext: '4111111111111111' };

/**
 * One value at a time. Lookups of this run are kept in memory: token, mask, case and time, never cleartext. A lookup
 * made on another connection is `lookup.unknown`, since its token means nothing there. A lookup is filed under the case
 * of the last reveal or copy that named one.
 */
export function openLookup(
  options: LookupOptions,
): Handlers<'lookup'> & { readonly tokenOf: (lookupId: string) => Promise<Outcome<string>> } {
  const { reveals, clipboard, hashes } = options;
  /** Newest first. */
  let recent: Lookup[] = [];
  const timestamp = (): string => options.now().toISOString();

  async function find(id: string): Promise<Outcome<KnownLookup>> {
    const active = await options.active();
    if (!active.ok) return active;
    const lookup = recent.find((candidate) => candidate.id === id);
    if (lookup?.connectionId !== active.value.connectionId) return failed('lookup.unknown');
    return done({ lookup, active: active.value });
  }

  function remember(
    made: Pick<Lookup, 'policy' | 'definition' | 'token' | 'masked' | 'kind' | 'caseReference' | 'requestId'>,
    { connectionId, definitions }: ActiveConnection,
    {
      requestIds = [made.requestId],
      typed = '',
    }: { readonly requestIds?: string[]; readonly typed?: string } = {},
  ): Outcome<Lookup> {
    const kind = definitions.find(({ name }) => name === made.definition)?.kind ?? null;
    const { masked, again } = maskAgain(made.masked, kind, typed);
    const lookup = {
      ...made,
      masked,
      ...(again && { maskedAgain: true }),
      id: options.newId(),
      at: timestamp(),
      connectionId,
      revealedAt: null,
      copiedAt: null,
      requestIds: requestIds.map(maskNumbers),
    };
    recent = [lookup, ...recent].slice(0, maxRecent);
    return done(lookup);
  }

  function fileUnderCase(
    id: string,
    change: Partial<Pick<Lookup, 'revealedAt' | 'copiedAt'>>,
    { requestId, caseReference }: Pick<Lookup, 'requestId' | 'caseReference'>,
  ): Lookup | null {
    // As it is now: a copy may have ended while a reveal was under way.
    const known = recent.find((candidate) => candidate.id === id);
    if (known === undefined) return null;
    const filed = {
      ...known,
      ...change,
      caseReference: caseReference === '' ? known.caseReference : caseReference,
      requestIds: [...known.requestIds, maskNumbers(requestId)].slice(-maxRequestIds),
    };
    recent = recent.map((candidate) => (candidate.id === id ? filed : candidate));
    return filed;
  }

  /**
   * Remembers a token just made, with its mask; `typed`: the value, where it is known here. Of a token that is made, the line
   * of its mask is the first that has its hash. A policy may tokenize and not mask: the token is then shown without a
   * mask rather than lost.
   */
  async function rememberMade(
    { value: token, requestId }: Answer,
    subject: Pick<Lookup, 'policy' | 'definition' | 'caseReference' | 'kind'>,
    active: ActiveConnection,
    typed?: string,
  ): Promise<Outcome<Lookup>> {
    const { policy, definition, caseReference, kind } = subject;
    const tokens = await hashes.of(token);
    if (!tokens.ok) return remember({ ...subject, token, masked: '', requestId }, active);
    const note = `token just ${kind}`;
    const context = { caseReference, rows: 1, tokens: tokens.value, note };
    const masked = await active.client.getMasked(policy, definition, token, context);
    if (!masked.ok) return remember({ ...subject, token, masked: '', requestId }, active);
    const requestIds = [requestId, masked.value.requestId];
    return remember({ ...subject, token, masked: masked.value.value, requestId }, active, {
      requestIds,
      ...(typed !== undefined && { typed }),
    });
  }

  /** Fetches cleartext and hands it to `use`, whose outcome is the act's. Failures: of the gate, the service and `use`. */
  async function disclose<T>(
    act: { readonly action: 'Reveal'; readonly subject: string } | { readonly action: 'Copy' },
    { lookup, active }: KnownLookup,
    grounds: Grounds,
    use: (answer: Answer<Cleartext>) => Outcome<T> | Promise<Outcome<T>>,
  ): Promise<Outcome<T>> {
    const { policy, definition, token, masked } = lookup;
    const { name: connection, environment, connectionId } = active;
    const tokens = await hashes.of(token);
    if (!tokens.ok) return tokens;
    const where = {
      ...{ connection, environment, policy, definition, operation: 'Detokenize', tokens: tokens.value },
      disclosed: () =>
        done({
          columns: [definition],
          words: masked === '' ? [] : [`the value of ${masked}`],
          source: null,
          exact: [connectionId, policy, definition, token],
        }),
    };
    return options.gate.open(
      { ...where, ...act, grounds },
      {
        async fetch(add) {
          const act: RecordedAct = { sent: false };
          const context = { ...grounds, rows: 1, act, tokens: tokens.value };
          const answer = await active.client.detokenize(policy, definition, token, context);
          const requestId = answer.ok ? answer.value.requestId : answer.failure.requestId;
          add({ ...(requestId !== undefined && { requestId }), ...(!act.sent && { sent: false }) });
          return answer;
        },
        give: use,
      },
    );
  }

  /** Asks for the masked form only: no cleartext leaves the service. */
  async function mask(input: CallInput<'lookup.mask'>): Promise<Outcome<Lookup>> {
    const active = await options.active();
    if (!active.ok) return active;
    const { policy, definition, token, caseReference } = input;
    const tokens = await hashes.of(token);
    if (!tokens.ok) return tokens;
    const context = { caseReference, rows: 1, tokens: tokens.value };
    const answer = await active.value.client.getMasked(policy, definition, token, context);
    if (!answer.ok) return answer;
    const { value: masked, requestId } = answer.value;
    return remember({ ...input, masked, kind: 'masked', requestId }, active.value);
  }

  async function tokenize(input: CallInput<'lookup.tokenize'>): Promise<Outcome<Lookup>> {
    const active = await options.active();
    if (!active.ok) return active;
    const { cleartext: obscured, ...subject } = input;
    const typed = openCleartext(noteCleartext(cleartext(restoreText(obscured))));
    const { policy, definition, caseReference } = subject;
    const context = { caseReference, rows: 1 };
    const answer = await active.value.client.tokenize(policy, definition, typed, context);
    if (!answer.ok) return answer;
    return rememberMade(answer.value, { ...subject, kind: 'tokenized' }, active.value, typed);
  }

  /** Takes a token from its definition to another, without cleartext on the way (spec §4, Translate). */
  async function translate(input: CallInput<'lookup.translate'>): Promise<Outcome<Lookup>> {
    const known = await find(input.lookupId);
    if (!known.ok) return known;
    const { lookup, active } = known.value;
    const { policy, definition, token, caseReference } = lookup;
    const target = { policy: input.targetPolicy, definition: input.targetDefinition };
    const tokens = await hashes.of(token);
    if (!tokens.ok) return tokens;
    const context = { caseReference, rows: 1, tokens: tokens.value };
    const answer = await active.client.translate(policy, definition, { token, target }, context);
    if (!answer.ok) return answer;
    return rememberMade(answer.value, { ...target, caseReference, kind: 'translated' }, active);
  }

  return {
    /** Failures: lookup.unknown, those of the connection in use. */
    async tokenOf(lookupId) {
      const known = await find(lookupId);
      return known.ok ? done(known.value.lookup.token) : known;
    },
    'lookup.mask': (input) => beforeOthers(() => mask(input)),
    'lookup.tokenize': (input) => beforeOthers(() => tokenize(input)),
    'lookup.translate': (input) => beforeOthers(() => translate(input)),
    async 'lookup.reveal'({ lookupId, xorKey, ...grounds }) {
      const known = await find(lookupId);
      if (!known.ok) return known;
      const { connectionId, definition, token } = known.value.lookup;
      // The token's value, however often it was looked up.
      const subject = `lookup ${JSON.stringify([connectionId, definition, token])}`;
      return disclose({ action: 'Reveal', subject }, known.value, grounds, ({ value, requestId }) => {
        const { caseReference } = grounds;
        const lookup = fileUnderCase(lookupId, { revealedAt: timestamp() }, { requestId, caseReference });
        // Forgotten meanwhile, with its case: nobody waits for it any more.
        if (lookup === null) return failed('lookup.unknown');
        return done({
          ...reveals.open(subject),
          obscured: obscureText(openCleartext(value), xorKey),
          requestId,
          lookup,
        });
      });
    },
    'lookup.hidden'({ revealId }) {
      reveals.hidden(revealId);
      return Promise.resolve(done({}));
    },
    'lookup.hide'({ revealId }) {
      reveals.hide(revealId);
      return Promise.resolve(done({}));
    },
    /** Cleartext goes from the answer to the clipboard within main. It is fetched anew: none is kept for later. */
    async 'lookup.copy'(input) {
      const epoch = clipboard.epoch();
      const known = await find(input.lookupId);
      if (!known.ok) return known;
      const { masked, token } = known.value.lookup;
      if (input.what === 'masked') return clipboard.write(masked, epoch);
      if (input.what === 'token') return clipboard.write(token, epoch);
      const { lookupId, what: _, ...grounds } = input;
      return disclose({ action: 'Copy' }, known.value, grounds, async ({ value, requestId }) => {
        const written = await clipboard.write(openCleartext(value), epoch);
        const { caseReference } = grounds;
        if (written.ok) fileUnderCase(lookupId, { copiedAt: timestamp() }, { requestId, caseReference });
        return written;
      });
    },
    async 'lookup.clearClipboard'() {
      await clipboard.clear();
      return done({});
    },
    async 'lookup.sample'() {
      const active = await options.active();
      if (!active.ok) return active;
      // The number is no secret, and elsewhere nobody asked for a token of it.
      if (!active.value.builtIn) return failed('connection.built-in');
      const { policy, definition, cleartext } = sample;
      const answer = await active.value.client.tokenize(policy, definition, cleartext, { rows: 1 });
      return answer.ok ? done({ definition, token: answer.value.value }) : answer;
    },
    'lookup.recent'() {
      return Promise.resolve(done([...recent]));
    },
    'lookup.forget'({ caseReference }) {
      recent = recent.filter((lookup) => caseReference !== null && lookup.caseReference !== caseReference);
      return Promise.resolve(done({}));
    },
  };
}
