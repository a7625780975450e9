import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shippedProfile } from '../../faults/client-side.ts';
import { saysTheSame } from '../../../electron/masking/plain-text.ts';
import { echoForm, isEcho } from '../../../electron/service/answers.ts';
import { matchElements } from '../../../electron/service/match-elements.ts';

const members = {
  ref: ['RefId', 'refId'],
  value: ['Value', 'value'],
  error: ['Error', 'error'],
  none: shippedProfile().element.none,
  success: null,
  emptyValues: false,
  maxLength: 100,
  elementCodes: shippedProfile().elementCodes,
  refusesEcho: true,
  refusesPart: true,
  returns: null,
};
const sent = (count: number) => Array.from({ length: count }, (_, n) => ({ ref: `r${n}`, value: `v${n}` }));

describe('an answer that repeats what was sent', () => {
  it('is known as such with and without spaces and hyphens, and nothing else is', () => {
    const bare = (text: string) => text.replaceAll(/[\s-]/g, '').toLowerCase();
    const text = fc.string({
      unit: fc.constantFrom('1', '2', 'a', 'A', '~', ' ', '-', '\u00a0', 'é'),
      maxLength: 6,
    });
    const alike = fc
      .tuple(text, text)
      .chain(([one, other]) => fc.constantFrom([one, other], [one, `${one} `]));
    fc.assert(
      fc.property(alike, ([one, other]) => {
        const isSame =
          one.toLowerCase() === other.toLowerCase() ||
          (bare(one) !== '' && bare(one) === bare(other)) ||
          saysTheSame(one, other);
        expect(isEcho(one, other)).toBe(isSame);
        expect(isEcho(other, one)).toBe(isSame);
        expect(echoForm(one) === echoForm(other)).toBe(isSame);
      }),
      { numRuns: 5_000 },
    );
  });
});

describe('pairing by RefId', () => {
  it('gives every element its own answer, in whatever order and spelling they come', () => {
    const received = fc
      .uniqueArray(fc.nat(60), { minLength: 1 })
      .chain((numbers) => fc.record({ numbers: fc.constant(numbers), order: fc.shuffledSubarray(numbers) }));
    fc.assert(
      fc.property(received, fc.boolean(), ({ numbers, order }, lower) => {
        const elements = numbers.map((n) => ({ ref: `r${n}`, value: `v${n}` }));
        const answer = order.map((n) =>
          lower ? { refId: `r${n}`, value: `clear ${n}` } : { RefId: `r${n}`, Value: `clear ${n}` },
        );
        const matched = matchElements(elements, answer, members);
        expect(matched).toEqual({
          ok: true,
          value: numbers.map((n) =>
            order.includes(n) ? { ref: `r${n}`, ok: true, value: `clear ${n}` } : null,
          ),
        });
      }),
    );
  });

  it.each<[string, unknown[]]>([
    ['a foreign RefId', [{ RefId: 'r9', Value: 'x' }]],
    [
      'a doubled one',
      [
        { RefId: 'r0', Value: 'x' },
        { RefId: 'r0', Value: 'x' },
      ],
    ],
    [
      'a doubled one further on',
      [
        { RefId: 'r1', Value: 'x' },
        { RefId: 'r1', Value: 'x' },
      ],
    ],
    ['one without RefId', [{ Value: 'x' }]],
    ['a RefId that is a number', [{ RefId: 0, Value: 'x' }]],
    ['something else than an object', ['x']],
    ['null', [null]],
    ['one named like a member of every object', [{ RefId: '__proto__', Value: 'x' }]],
  ])('rejects the answer whole for %s', (_, received) => {
    expect(matchElements(sent(3), received, members)).toMatchObject({
      ok: false,
      failure: { code: 'service.mismatched-answer' },
    });
  });

  it('7.8 tells refused elements from answered ones, with what the service says where it is text', () => {
    const received = [
      { RefId: 'r0', Error: 'TokenInvalid' },
      { RefId: 'r1', Value: 'x', Error: null },
      { RefId: 'r2', Value: 'kept', Error: 'TokenInvalid' },
      { RefId: 'r3', Value: null },
      { RefId: 'r4', Error: { code: 7 } },
      { RefId: 'r5', Error: ['One.', 'Two.'] },
    ];
    expect(matchElements(sent(6), received, members)).toEqual({
      ok: true,
      value: [
        { ref: 'r0', ok: false, code: 'service.token-invalid', reason: 'TokenInvalid' },
        { ref: 'r1', ok: true, value: 'x' },
        { ref: 'r2', ok: false, code: 'service.token-invalid', reason: 'TokenInvalid' },
        { ref: 'r3', ok: false, code: 'service.mismatched-answer' },
        { ref: 'r4', ok: false, code: 'service.element-refused' },
        { ref: 'r5', ok: false, code: 'service.element-refused', reason: 'One.; Two.' },
      ],
    });
  });

  it.each([
    ['ValueInvalid', 'service.value-invalid'],
    ['ValueTooLong', 'service.value-too-long'],
    ['TokenInvalid', 'service.token-invalid'],
    ['Something new', 'service.element-refused'],
  ])('tells by the profile what %s means, and passes it on', (reason, code) => {
    expect(matchElements(sent(1), [{ RefId: 'r0', Error: reason }], members)).toEqual({
      ok: true,
      value: [{ ref: 'r0', ok: false, code, reason }],
    });
  });

  it('names the members when no element has a known value', () => {
    const received = [
      { RefId: 'r0', Cleartext: 'secret' },
      { RefId: 'r1', Cleartext: 'secret' },
    ];
    expect(matchElements(sent(2), received, members)).toEqual({
      ok: false,
      failure: { code: 'service.unexpected-answer', members: ['RefId', 'Cleartext'] },
    });
  });

  it('throws for a caller that uses a RefId twice', () => {
    const twice = [
      { ref: 'a', value: '1' },
      { ref: 'a', value: '2' },
    ];
    expect(() => matchElements(twice, [{ RefId: 'b', Value: 'x' }], members)).toThrow('share a RefId');
  });
});

describe('4.14 a match', () => {
  const match = (returns: 'value' | 'element' | 'reference', ...received: unknown[]) =>
    matchElements(sent(2), received, { ...members, refusesEcho: false, returns });
  const without = (ref: string) => ({ ref, ok: true, value: null });

  it('that comes with what was sent has no value, however it is written', () => {
    for (const returns of ['value', 'element'] as const)
      for (const same of ['v0', 'v-0', ' v0'])
        expect(match(returns, { RefId: 'r0', Value: same })).toEqual({
          ok: true,
          value: [without('r0'), null],
        });
  });

  it('that should come with what was sent, and comes with another value or none, has failed', () => {
    for (const element of [{ RefId: 'r0', Value: 'v1' }, { RefId: 'r0' }])
      expect(match('element', element, { RefId: 'r1', Value: 'v1' })).toEqual({
        ok: true,
        value: [{ ref: 'r0', ok: false, code: 'service.mismatched-answer' }, without('r1')],
      });
  });

  it('that should come with a RefId alone has no value, whatever comes beside it', () => {
    expect(match('reference', { RefId: 'r0', Value: 'clear' }, 'r1')).toEqual({
      ok: true,
      value: [without('r0'), without('r1')],
    });
    expect(match('reference', { RefId: 'r0', Error: 'TokenInvalid' })).toMatchObject({
      value: [{ ok: false, code: 'service.token-invalid' }, null],
    });
    expect(match('reference', 'r9')).toMatchObject({ failure: { code: 'service.mismatched-answer' } });
  });

  it('that comes without a value where one is expected names its members, so that it can be fitted', () => {
    expect(match('value', { RefId: 'r0' })).toMatchObject({
      failure: { code: 'service.unexpected-answer', members: ['RefId'] },
    });
    expect(match('value', 'r0')).toMatchObject({ failure: { members: ['[]'] } });
  });
});
