import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { deliberate, LoneKeys } from '../../../src/ui/deliberate.ts';

/** As much of the window's elements as is asked about. */
class Place extends EventTarget {
  readonly buttons = [{ ariaDisabled: null as string | null }];

  querySelectorAll(): unknown[] {
    return this.buttons;
  }

  closest(): null {
    return null;
  }
}

class Field extends Place {
  readonly type = 'text';
}

/** As much of a keyboard's event as is asked about. */
class Press extends Event {
  readonly key: string;
  readonly repeat: boolean;
  readonly detail = 0;

  constructor(key: string, { repeat = false } = {}) {
    super('keydown', { cancelable: true });
    this.key = key;
    this.repeat = repeat;
  }
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('KeyboardEvent', Press);
  for (const name of ['HTMLInputElement', 'HTMLTextAreaElement']) vi.stubGlobal(name, Field);
  vi.stubGlobal('Element', Place);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe('W1 what discloses', () => {
  function opened() {
    const place = new Place();
    const stop = deliberate(place as unknown as HTMLElement);
    const press = (key: string, repeat = false): boolean => place.dispatchEvent(new Press(key, { repeat }));
    const click = (detail: number): boolean =>
      place.dispatchEvent(Object.assign(new Event('click', { cancelable: true }), { detail }));
    return { place, stop, press, click };
  }

  it('takes no press for 400 ms, nor for 400 ms after one that came too early', () => {
    const { place, press, click, stop } = opened();
    expect([press('Enter'), press(' '), click(1), place.buttons[0]?.ariaDisabled]).toEqual([
      false,
      false,
      false,
      'true',
    ]);
    vi.advanceTimersByTime(300);
    expect(press('Enter')).toBe(false);
    vi.advanceTimersByTime(300);
    expect(press('Enter')).toBe(false);
    vi.advanceTimersByTime(400);
    expect([press('Enter'), click(1), place.buttons[0]?.ariaDisabled]).toEqual([true, true, null]);
    stop();
  });

  it('takes neither the repeats of a held key nor the second click of two', () => {
    const { press, click } = opened();
    vi.advanceTimersByTime(500);
    expect([press('Enter', true), press('Enter')]).toEqual([false, false]);
    vi.advanceTimersByTime(500);
    expect([click(2), press('a', true), press('Enter')]).toEqual([false, true, true]);
  });
});

describe('W2 keys outside of a field', () => {
  function pressed() {
    const [ran, texts]: [string[], string[]] = [[], []];
    const keys = new LoneKeys({
      commandOf: (key) => (key === 'C' || key === 'R' ? () => ran.push(key) : null),
      ontext: (text) => void texts.push(text),
    });
    const press = (key: string, repeat = false): Press => {
      const event = new Press(key, { repeat });
      keys.press(event as unknown as KeyboardEvent);
      return event;
    };
    return { ran, texts, press, keys };
  }

  it('are a command where one stands alone', () => {
    const { ran, texts, press } = pressed();
    press('C');
    expect(ran).toEqual([]);
    vi.advanceTimersByTime(250);
    expect([ran, texts]).toEqual([['C'], []]);
  });

  it('are a text from the first one on where another follows', () => {
    const { ran, texts, press } = pressed();
    press('C');
    vi.advanceTimersByTime(249);
    press('R');
    vi.advanceTimersByTime(1_000);
    expect([ran, texts]).toEqual([[], ['CR']]);
    press('4');
    expect(texts).toEqual(['CR', '4']);
  });

  it('end with Enter, which then presses nothing', () => {
    const { ran, texts, press } = pressed();
    press('C');
    expect(press('Enter').defaultPrevented).toBe(true);
    vi.advanceTimersByTime(1_000);
    expect([ran, texts]).toEqual([[], ['C']]);
    expect(press('Enter').defaultPrevented).toBe(false);
  });

  it('are left to a field that has the focus', () => {
    const { ran, texts, keys } = pressed();
    const field = new Field();
    field.addEventListener('keydown', (event) => keys.press(event as KeyboardEvent));
    expect(field.dispatchEvent(new Press('C'))).toBe(true);
    vi.advanceTimersByTime(1_000);
    expect([ran, texts]).toEqual([[], []]);
  });

  it('that are held do nothing', () => {
    const { ran, texts, press } = pressed();
    press('C', true);
    vi.advanceTimersByTime(1_000);
    expect([ran, texts]).toEqual([[], []]);
  });
});
