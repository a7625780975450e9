import { expect, test } from 'vitest';
import { checkPattern } from '../../../electron/parsing/pattern.ts';

/* Expressions with which a backtracking engine takes longer than the universe has, on the input beside each. */
const catastrophic: readonly (readonly [pattern: string, input: string])[] = [
  ['(a+)+$', `${'a'.repeat(5_000)}!`],
  ['(a*)*$', `${'a'.repeat(5_000)}!`],
  ['(a|aa)+$', `${'a'.repeat(5_000)}!`],
  ['(a|a)*$', `${'a'.repeat(5_000)}!`],
  ['(.*a){20}', 'a'.repeat(19) + '!'.repeat(2_000)],
  ['^(\\d+)*$', `${'4'.repeat(5_000)}x`],
  ['^([a-zA-Z0-9])(([\\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+$', 'a'.repeat(5_000)],
  ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a'.repeat(5_000)],
  ['(?:(?:a?){30})(?:a{30})$', `${'a'.repeat(29)}!`],
];

// The runner's own limit is the assertion: none of these would end in it otherwise.
test.each(catastrophic)('%s ends', (pattern, input) => {
  const checked = checkPattern(pattern);
  if (!checked.ok) throw new Error(checked.failure.code);
  expect(checked.value.matcher(input).find()).toBeTypeOf('boolean');
});

test.each(['(?=a)b', '(?!a)b', '(?<=a)b', '(?<!a)b', '(a)\\1', '(?<x>a)\\k<x>', 'a++', '(?>a)b'])(
  '%s, which can not run in linear time, is refused and said to be of that kind',
  (pattern) => {
    expect(checkPattern(pattern)).toMatchObject({ ok: false, failure: { code: 'pattern.unsupported' } });
  },
);
