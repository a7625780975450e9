import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { obscureText, newXorKey } from '../../../electron/contract/obscured.ts';
import { openApi } from '../../../src/lib/api.ts';
import { RevealedValueStore } from '../../../src/lib/revealed.svelte.ts';
import { createFakeBridge } from '../support/fake-bridge.ts';

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
  return { fake, store: new RevealedValueStore(openApi(fake.bridge)) };
}

/** Everything reachable from an object, as one string. */
const textIn = (of: object): string => {
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

describe('the revealed value', () => {
  it('ends by time and tells main', async () => {
    const { fake, store } = open();
    store.show(revealed, 'lookup:1', 'card');
    await vi.advanceTimersByTimeAsync(19_999);
    expect(store.now).not.toBeNull();
    await vi.advanceTimersByTimeAsync(1);
    expect(store.now).toBeNull();
    expect(fake.seen.map(({ name }) => name)).toEqual(['lookup.hide', 'lookup.hidden']);
  });

  it('ends on the event of main', () => {
    const { fake, store } = open();
    store.show(revealed, 'lookup:1', 'card');
    fake.emit('reveal.ended', { revealId: 'reveal-1', cause: 'blur' });
    expect(store.now).toBeNull();
  });

  it('does not end for another reveal', () => {
    const { fake, store } = open();
    store.show(revealed, 'lookup:1', 'card');
    fake.emit('reveal.ended', { revealId: 'reveal-0', cause: 'replaced' });
    expect(store.now?.revealId).toBe('reveal-1');
  });

  it('is not shown when main ended it before the answer was read', () => {
    const { fake, store } = open();
    fake.emit('reveal.ended', { revealId: 'reveal-1', cause: 'blur' });
    store.show(revealed, 'lookup:1', 'card');
    expect(store.now).toBeNull();
  });

  it('is in no reachable member as plain text', () => {
    const { store } = open();
    store.show(revealed, 'lookup:1', 'card');
    expect(textIn(store)).not.toContain(value);
  });
});
