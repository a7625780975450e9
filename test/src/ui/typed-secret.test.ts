import fc from 'fast-check';
import { expect, test } from 'vitest';
import { restoreText } from '../../../electron/contract/obscured.ts';
import { TypedSecret } from '../../../src/ui/typed-secret.svelte.ts';

test('holds the same text as a plain field after any edits', () => {
  const edit = fc.record({ text: fc.string({ maxLength: 5 }), from: fc.nat(20), to: fc.nat(20) });
  fc.assert(
    fc.property(fc.array(edit, { maxLength: 20 }), (edits) => {
      const typed = new TypedSecret(200);
      let plain = '';
      for (const { text, from, to } of edits) {
        const start = Math.min(from, to, plain.length);
        const end = Math.min(Math.max(from, to), plain.length);
        typed.replace(text, start, end);
        plain = plain.slice(0, start) + text + plain.slice(end);
        expect(typed.length).toBe(plain.length);
      }
      expect(restoreText(typed.take())).toBe(plain);
      expect(typed.length).toBe(0);
    }),
  );
});

test('what is taken can be tidied, and is taken once', () => {
  const typed = new TypedSecret(20);
  typed.replace('4111 1173', 0, 0);
  const digits = (units: Uint16Array) => units.filter((unit) => unit !== 0x20);
  expect(restoreText(typed.take(digits))).toBe('41111173');
  expect(typed.take().obscured).toBe('');
});

test('drops what is longer than its maximum', () => {
  const long = 'x'.repeat(16_384);
  const jwt = new TypedSecret(16_384);
  jwt.replace(`${long}y`, 0, 0);
  expect(restoreText(jwt.take())).toBe(long);
  const short = new TypedSecret(4);
  short.replace('abcd', 0, 0);
  short.replace('XY', 1, 2);
  expect(restoreText(short.take())).toBe('aXcd');
});

test('overwrites removed units', () => {
  const typed = new TypedSecret(20);
  typed.replace('hunter2', 0, 0);
  typed.replace('', 2, 7);
  typed.replace('....', 2, 2);
  expect(String.fromCharCode(...typed.copy())).toBe('hu....');
  typed.clear();
  expect(typed.copy()).toHaveLength(0);
});

test('what is typed twice is compared without making a text of it', () => {
  const one = new TypedSecret(20);
  const two = new TypedSecret(20);
  one.replace('correct horse', 0, 0);
  two.replace('correct hors', 0, 0);
  expect(one.equals(two)).toBe(false);
  two.replace('e', 12, 12);
  expect(one.equals(two)).toBe(true);
  two.replace('E', 12, 13);
  expect(one.equals(two)).toBe(false);
});

test('text that may be shown stays when its input goes, and a secret does not', () => {
  const shown = (units: Uint16Array): string | null =>
    units.length > 3 ? null : Array.from(units, (unit) => String.fromCharCode(unit)).join('');
  const typed = new TypedSecret(20, shown);
  const input = Object.assign(new EventTarget(), { value: '', setSelectionRange: () => undefined });
  const attach = () => typed.attach(input as unknown as HTMLInputElement);
  let detach = attach();
  typed.replace('abc', 0, 0);
  expect(input.value).toBe('abc');
  detach();
  detach = attach();
  expect([typed.length, input.value]).toEqual([3, 'abc']);
  typed.replace('d', 3, 3);
  expect(input.value).toBe('••••');
  detach();
  expect(typed.length).toBe(0);
});

test('an input is emptied of what another left in it, and one that is empty is left alone', () => {
  let placed = 0;
  const input = Object.assign(new EventTarget(), { value: '', setSelectionRange: () => (placed += 1) });
  const typed = new TypedSecret(20);
  const detach = typed.attach(input as unknown as HTMLInputElement);
  expect(placed).toBe(0);
  detach();
  input.value = '4111';
  new TypedSecret(20).attach(input as unknown as HTMLInputElement);
  expect(input.value).toBe('');
});
