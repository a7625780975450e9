import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shippedProfile } from '../../faults/client-side.ts';
import { readExchange, type ServiceAnswer } from '../../../electron/service/http/failures.ts';
import { readJson } from '../../../electron/service/http/read-json.ts';
import { readPairs } from '../../../electron/service/http/read-pairs.ts';
import { matchAnswer, type ElementMembers } from '../../../electron/service/match-elements.ts';
import type { ServiceProfile } from '../../../electron/service/profile.ts';

const text = fc.oneof(
  { weight: 60, arbitrary: fc.stringMatching(/^[0-9a-zA-Z ,:{}[\]-]{0,20}$/) },
  fc.constantFrom('"', '\\', '\u0000', '\n', 'é', '€', '\ud800', '"},{"RefId":"', '\u007f', '\u00a0'),
);
const name = fc.constantFrom(
  'RefId',
  'Value',
  'value',
  'Error',
  '',
  '__proto__',
  '1',
  'a:b',
  'A"',
  'Ä',
  'refId',
);
const blank = fc.oneof(
  { weight: 30, arbitrary: fc.constantFrom('', ' ', '  ') },
  fc.constantFrom('\n', '\t', '\u00a0'),
);

/** A list's JSON as somebody's program may write it: mostly the same members in each, sometimes not. */
const listText = fc
  .record({
    names: fc.tuple(name, name),
    rows: fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 6 }),
    blanks: fc.tuple(blank, blank, blank, blank, blank),
    list: fc.option(name),
    odd: fc.oneof(
      { weight: 4, arbitrary: fc.constant(null) },
      fc.tuple(fc.nat(5), fc.constantFrom('{}', '"x"', '{"RefId":1,"Value":"a"}', '[]')),
    ),
  })
  .map(({ names, rows, blanks: [a, b, c, d, e], list, odd }) => {
    const [one, other] = names.map((member) => JSON.stringify(member));
    const elements = rows.map(
      ([x, y]) =>
        `{${a}${one}${b}:${c}${JSON.stringify(x)}${b},${a}${other}${b}:${c}${JSON.stringify(y)}${d}}`,
    );
    if (odd !== null) elements.splice(odd[0], 0, odd[1]);
    const written = `[${e}${elements.join(`${d},${e}`)}${a}]`;
    return list === null ? written : `{${b}${JSON.stringify(list)}${c}:${e}${written}${a}}`;
  });

describe('a list of pairs', () => {
  it('is what JSON.parse makes of it, or is left to it', () => {
    let read = 0;
    fc.assert(
      fc.property(listText, (written) => {
        const pairs = readPairs(Buffer.from(written));
        if (pairs === null) return;
        read += 1;
        const { list, names, columns } = pairs;
        const elements = columns[0].map((one, index) =>
          Object.fromEntries([
            [names[0], one],
            [names[1], columns[1][index]],
          ]),
        );
        const json = list === null ? elements : Object.fromEntries([[list, elements]]);
        expect(readJson(Buffer.from(written))).toEqual({ json, twice: null });
      }),
      { numRuns: 20_000 },
    );
    expect(read).toBeGreaterThan(1_000);
  });

  it('is none that is cut, longer or damaged, unless it is still JSON', () => {
    const whole = Buffer.from(
      JSON.stringify({ elements: ['0', '1', '2'].map((ref) => ({ RefId: ref, Value: `~${ref}` })) }),
    );
    expect(readPairs(whole)).not.toBeNull();
    for (let at = 0; at < whole.length; at++) {
      expect(readPairs(whole.subarray(0, at)), `cut at ${at}`).toBeNull();
      for (let byte = 0; byte < 256; byte++) {
        const damaged = Buffer.from(whole);
        damaged[at] = byte;
        const pairs = readPairs(damaged);
        if (pairs !== null) expect(readJson(damaged)).toMatchObject({ twice: null, json: expect.anything() });
      }
    }
    expect(readPairs(Buffer.concat([whole, Buffer.from('}')]))).toBeNull();
    expect(readPairs(Buffer.concat([whole, Buffer.from('{}')]))).toBeNull();
    expect(readPairs(Buffer.concat([whole, Buffer.from(' \r\n')]))).not.toBeNull();
  });
});

describe('a batch that is answered with pairs', () => {
  const shipped = shippedProfile();
  const sent = ['0', '1', '2', '3'].map((ref) => ({ ref, value: `4000 0000 0000 000${ref}` }));
  const refs = fc.oneof(
    fc.constant(sent.map(({ ref }) => ref)),
    fc.shuffledSubarray(sent.map(({ ref }) => ref)),
    fc.array(fc.constantFrom('0', '1', '2', '3', '4', ''), { minLength: 1, maxLength: 5 }),
  );
  const values = fc.constantFrom(
    'tok',
    '',
    ' ',
    '4000000000000001',
    '\u007f',
    'x'.repeat(40),
    'A4000000000000002B',
  );
  const profile = fc.record({
    lists: fc.constantFrom(shipped.lists, ['answers', 'elements.inner'], ['Value']),
    bareLists: fc.boolean(),
    batchAnswers: fc.constantFrom(shipped.batchAnswers, 'by-reference' as const),
  });
  const members = fc.record({
    ref: fc.constantFrom(['RefId'], ['refId', 'RefId'], ['Value'], ['in.RefId'], ['Error', 'Value', 'RefId']),
    value: fc.constantFrom(['Value'], ['value', 'Value'], ['RefId'], ['Error', 'Value']),
    error: fc.constantFrom(['Error'], ['Error.text'], ['Other']),
    success: fc.constantFrom<ElementMembers['success']>(null, { member: 'Value', values: ['tok'] }),
    refusesEcho: fc.boolean(),
    refusesPart: fc.boolean(),
    emptyValues: fc.boolean(),
    returns: fc.constantFrom(null, 'element' as const, 'reference' as const),
  });
  const answered = (json: unknown): ServiceAnswer & { readonly kind: string } => {
    const body = Buffer.from(JSON.stringify(json));
    const about = { operation: 'Tokenize', policy: null, definition: null, submitted: () => [] };
    const read = readExchange({ ok: true, reply: { status: 200, headers: {}, body } }, about, shipped);
    if (read.kind !== 'answer') throw new Error(read.kind);
    return read;
  };

  it('gets the same answers as if they were read as JSON, whatever the profile', () => {
    let quick = 0;
    fc.assert(
      fc.property(
        fc.record({
          refs,
          values: fc.array(values, { minLength: 5, maxLength: 5 }),
          names: fc.constantFrom(
            ['RefId', 'Value'],
            ['Value', 'RefId'],
            ['RefId', 'Error'],
            ['Error', 'Value'],
          ),
          list: fc.constantFrom('elements', 'answers', 'Value', null),
          changed: profile,
          members,
        }),
        (one) => {
          const [refName = '', valueName = ''] = one.names;
          const elements = [...one.refs].map((ref: string, index) => ({
            [refName]: ref,
            [valueName]: one.values[index],
          }));
          const json = one.list === null ? elements : { [one.list]: elements };
          const read = answered(json);
          if (read.pairs === null) {
            expect(JSON.stringify(json)).toMatch(/\\|\u007f|\[\]/);
            return;
          }
          quick += 1;
          const own: ServiceProfile = { ...shipped, ...one.changed };
          const rules: ElementMembers = {
            ...shipped.element,
            maxLength: 30,
            elementCodes: shipped.elementCodes,
            ...one.members,
          };
          const asJson: ServiceAnswer = { kind: 'answer', json, pairs: null, requestId: '' };
          expect(matchAnswer(own, read, sent, rules)).toEqual(matchAnswer(own, asJson, sent, rules));
        },
      ),
      { numRuns: 5_000 },
    );
    expect(quick).toBeGreaterThan(1_000);
  });
});
