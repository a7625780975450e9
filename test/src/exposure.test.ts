import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { obscureText, newXorKey } from '../../electron/contract/obscured.ts';
import { openApi } from '../../src/api.ts';
import { Exposure } from '../../src/revealed.svelte.ts';
import { createFakeBridge } from './support/fake-bridge.ts';

const value = '4111117309211111';
const xorKey = newXorKey();
const revealed = {
  revealId: 'reveal-1',
  obscured: obscureText(value, xorKey),
  xorKey,
  hideAfterMs: 20_000,
  requestId: 'r',
};

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function open() {
  const fake = createFakeBridge();
  return { fake, exposure: new Exposure(openApi(fake.bridge)) };
}

/** Everything reachable from an object, as one string. */
const held = (of: object): string => {
  const seen = new Set<unknown>();
  const walk = (value: unknown): string => {
    if (typeof value === 'string') return value;
    if (value === null || typeof value !== 'object' || seen.has(value)) return '';
    seen.add(value);
    return Reflect.ownKeys(value)
      .map((key) => walk((value as Record<PropertyKey, unknown>)[key]))
      .join(' ');
  };
  return walk(of);
};

describe('an exposure', () => {
  it('ends by time and tells main', async () => {
    const { fake, exposure } = open();
    exposure.show(revealed, 'lookup:1', 'card');
    await vi.advanceTimersByTimeAsync(19_999);
    expect(exposure.now).not.toBeNull();
    await vi.advanceTimersByTimeAsync(1);
    expect(exposure.now).toBeNull();
    expect(fake.seen.map(({ name }) => name)).toEqual(['lookup.hide']);
  });

  it('ends when main says so', () => {
    const { fake, exposure } = open();
    exposure.show(revealed, 'lookup:1', 'card');
    fake.emit('reveal.ended', { revealId: 'reveal-1', why: 'blur' });
    expect(exposure.now).toBeNull();
  });

  it('does not end for another reveal', () => {
    const { fake, exposure } = open();
    exposure.show(revealed, 'lookup:1', 'card');
    fake.emit('reveal.ended', { revealId: 'reveal-0', why: 'replaced' });
    expect(exposure.now?.revealId).toBe('reveal-1');
  });

  it('does not show what main has ended before the answer was read', () => {
    const { fake, exposure } = open();
    fake.emit('reveal.ended', { revealId: 'reveal-1', why: 'blur' });
    exposure.show(revealed, 'lookup:1', 'card');
    expect(exposure.now).toBeNull();
  });

  it('holds the value in no member that can be reached', () => {
    const { exposure } = open();
    exposure.show(revealed, 'lookup:1', 'card');
    expect(held(exposure)).not.toContain(value);
  });
});
