import fs from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { calls, type CallName } from '../../electron/contract/calls.ts';
import type { Outcome } from '../../electron/contract/errors.ts';
import { newXorKey } from '../../electron/contract/obscured.ts';
import { fitting, type Json } from './payloads.ts';
import { obscured, openWholeApp, type WholeAppOptions } from './whole-app.ts';

/** Values that are in the file and at the service, and must not be in anything that the window gets. */
export const canaries = {
  cards: ['4111118124045251', '5500005555555559', '4012888888881881', '6011111111111117', '371449635398431'],
  ssns: ['078-05-1120', '219-09-9999', '457-55-5462', '123-45-6789', '536-22-8726'],
  emails: ['jane.roe', 'max.power', 'nora.ang', 'ivan.petrov', 'mei.lin'].map(
    (name) => `${name}@secret.example`,
  ),
  ibans: [
    ...['DE89370400440532013000', 'GB29NWBK60161331926819', 'FR1420041010050500013M02606'],
    ...['NL91ABNA0417164300', 'AT611904300234573201'],
  ],
  passports: ['X1234567', 'C01X00T47', 'P98765432', 'K55501234', 'L00299877'],
};
const all = Object.values(canaries).flat();

const texts = (value: unknown): string[] => {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null
    ? [...Object.keys(value), ...Object.values(value).flatMap(texts)]
    : [];
};

/** The canaries in a message: as they are, without what is put between characters, and in its bytes as UTF-16. */
export function canariesIn(message: unknown): string[] {
  const found = new Set<string>();
  for (const text of texts(message)) {
    if (text.length < 4) continue;
    const bytes = Buffer.from(text, 'utf16le');
    const views = [text, bytes.toString('latin1'), Buffer.from(bytes).swap16().toString('latin1')];
    for (const view of views) {
      const bare = view.replaceAll(/[ -]/g, '').replaceAll('\0', '');
      for (const canary of all)
        if (view.includes(canary) || bare.includes(canary.replaceAll('-', ''))) found.add(canary);
    }
  }
  return [...found];
}

/** What would end the app, its lock or its connection for good, and so the fuzz. */
const leftOut: ReadonlySet<CallName> = new Set<CallName>([
  ...(['app.wipe', 'lock.setPassphrase', 'lock.unlock', 'lock.reset', 'connections.remove'] as const),
  ...(['connections.save', 'connections.choose', 'connections.storeSecret', 'settings.save'] as const),
]);

export interface FuzzResult {
  readonly calls: number;
  /** Calls that were answered with a value at least once, and those that never were. */
  readonly answered: number;
  readonly neverAnswered: readonly string[];
  readonly events: number;
  /** Where a canary was, and which. */
  readonly leaks: readonly string[];
  /** Calls and events that the check held back. */
  readonly heldBack: readonly string[];
  readonly bugs: readonly string[];
}

/** Calls of every name with inputs that fit and with real IDs, against the whole app with its built-in service. */
export async function fuzzCalls(
  { count, seed }: { readonly count: number; readonly seed: number },
  options: WholeAppOptions = {},
): Promise<FuzzResult> {
  const app = await openWholeApp(options);
  const ask = (name: CallName, input: unknown): Promise<Outcome<unknown>> => app.ask(name, input as never);
  let state = seed;
  const pick = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const oneOf = <T>(list: readonly T[]): T | undefined => list[pick(list.length)];
  const known = new Map<string, string[]>();
  const learn = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [member, one] of Object.entries(value)) {
      if (typeof one === 'string' && one !== '' && /^(token|\w*Id|id)$/.test(member)) {
        const list = known.get(member === 'id' ? 'lookupId' : member) ?? [];
        if (!list.includes(one)) list.push(one);
        known.set(member === 'id' ? 'lookupId' : member, list.slice(-20));
      } else learn(one);
    }
  };

  try {
    await ask('connections.startBuiltIn', {});
    const tokens: string[] = [];
    for (const card of canaries.cards) {
      const made = await ask('lookup.tokenize', {
        policy: 'analyst',
        definition: 'card-number',
        cleartext: obscured(card),
        caseReference: 'C-1',
      });
      learn(made);
      if (made.ok) tokens.push((made.value as { token: string }).token);
    }
    const file = path.join(app.home, 'people.csv');
    const rows = Array.from({ length: 60 }, (_, n) => {
      const at = n % 5;
      const { cards, ssns, emails, ibans, passports } = canaries;
      return [
        tokens[at],
        cards[at],
        ssns[at],
        emails[at],
        ibans[at],
        passports[at],
        `paid ${cards[at] ?? ''} ${n}`,
      ];
    });
    const header = ['token', 'card_number', 'ssn', 'mail', 'iban', 'passport', 'note'];
    fs.writeFileSync(file, `${[header, ...rows].map((row) => row.join(',')).join('\n')}\n`);
    app.choose(file);
    const pasted = fs.readFileSync(file, 'utf8');

    const definitions = ['card-number', 'card-number', 'ssn', 'email', 'free-text', 'free-text', 'free-text'];
    const planned = (column: number): Json => {
      const operation = oneOf(['tokenize', 'detokenize', 'mask', 'translate', 'match']) ?? 'mask';
      return {
        column,
        operation,
        policy: 'analyst',
        definition: definitions[column] ?? '',
        target: operation === 'translate' ? { policy: 'analyst', definition: 'free-text' } : null,
        parts: operation === 'match' ? { by: 'digits', bin: '4', lastFour: '', length: null } : null,
        pattern: null,
        into: oneOf(['replace', 'beside']) ?? 'replace',
      };
    };
    const plan = (): Json => ({
      reading: {
        encoding: oneOf(['utf-8', 'utf-8', 'utf-8', 'utf-16le', 'utf-16be']) ?? 'utf-8',
        delimiter: oneOf([',', ',', ',', ';']) ?? ',',
        header: pick(4) > 0,
      },
      columns: definitions.flatMap((_, column) =>
        pick(3) === 0 || column === pick(7) ? [planned(column)] : [],
      ),
    });
    const real: Record<string, () => Json | undefined> = {
      plan,
      view: () => ({ where: [], sort: pick(2) === 0 ? null : { column: pick(7), descending: true } }),
      grounds: () => ({ reason: 'Refund', caseReference: 'C-1' }),
      reason: () => 'Refund',
      policy: () => oneOf(['analyst', 'dispute-desk']),
      definition: () => oneOf(['card-number', 'ssn', 'email', 'free-text']),
      column: () => pick(7),
      reference: () => file,
      text: () => oneOf([...all.map((value) => value.slice(0, 4)), '•', '']),
      xorKey: () => newXorKey(),
      masked: () => oneOf([null, [], [0, 1, 2]]),
      encoding: () => oneOf(['utf-8', 'utf-8', 'utf-16le', 'utf-16be', 'windows-1252']),
      delimiter: () => oneOf([',', ',', ';']),
      from: () => 0,
      after: () => -1,
      row: () => 1 + pick(60),
      count: () => 1 + pick(60),
    };
    const put = (value: Json, name: CallName): Json => {
      if (Array.isArray(value)) return value.map((one) => put(one, name));
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(
        Object.entries(value).map(([member, one]) => {
          const put1 = pick(8) === 0 ? undefined : (real[member]?.() ?? oneOf(known.get(member) ?? []));
          if (put1 !== undefined && (typeof put1 === typeof one || member === 'masked'))
            return [member, put1];
          return [member, put(one, name)];
        }),
      );
    };
    const names = (Object.keys(calls) as CallName[]).filter((name) => !leftOut.has(name));
    const samples = new Map(
      names.map((name) => [name, fc.sample(fitting(calls[name].input), { numRuns: 50, seed })]),
    );
    const values = names.filter((name) => /^(batch|lookup)\./.test(name));
    const answered = new Set<string>();
    const leaks: string[] = [];
    const heldBack: string[] = [];
    let events = 0;
    const look = (name: string, message: unknown): void => {
      for (const canary of canariesIn(message)) leaks.push(`${name}: ${canary}`);
    };
    for (let n = 0; n < count; n++) {
      const name = oneOf(pick(2) === 0 ? values : names) ?? 'app.state';
      const sample = put(oneOf(samples.get(name) ?? []) ?? {}, name);
      const input = name === 'batch.paste' ? { text: pasted } : sample;
      const outcome = await ask(name, input);
      look(name, outcome);
      if (outcome.ok) {
        answered.add(name);
        learn(outcome.value);
      } else if (outcome.failure.code === 'call.leak') heldBack.push(name);
      if (name === 'lock.now') await ask('lock.unlock', { passphrase: obscured('') });
      for (const event of app.events.splice(0)) {
        events++;
        look(event.name, event.payload);
      }
    }
    heldBack.push(...app.bugs.filter((bug) => bug.startsWith('leak ')));
    return {
      calls: count,
      answered: answered.size,
      neverAnswered: names.filter((name) => !answered.has(name)),
      events,
      leaks: [...new Set(leaks)],
      heldBack,
      bugs: app.bugs,
    };
  } finally {
    await app.close();
  }
}
