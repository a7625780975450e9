import { afterEach, describe, expect, it, vi } from 'vitest';
import { groups } from '../../../src/lib/token-text.ts';

/** The formats as a person with this locale gets them. */
async function formatsOf(language: string) {
  vi.resetModules();
  vi.spyOn(navigator, 'language', 'get').mockReturnValue(language);
  return await import('../../../src/lib/format.ts');
}

afterEach(() => {
  vi.restoreAllMocks();
  vi.resetModules();
});

describe('numbers and dates', () => {
  it('are written as the person writes them', async () => {
    const german = await formatsOf('de-DE');
    expect(german.formatCount(1_234_567)).toBe('1.234.567');
    expect(german.formatShare(0.05)).toBe('5\u00a0%');
    expect(german.formatBytes(9_200_000)).toBe('9,2 MB');
    expect(german.formatDate('2026-11-21')).toBe('21. Nov. 2026');
    const arabic = await formatsOf('ar-EG');
    expect(arabic.formatCount(1_234_567)).toBe('\u2068١٬٢٣٤٬٥٦٧\u2069');
    expect(arabic.formatDigits('dd 21')).toBe('dd ٢١');
    const english = await formatsOf('en-US');
    expect(english.formatDate('2026-11-21')).toBe('Nov 21, 2026');
    expect(english.formatMonth('2026-11')).toBe('November 2026');
  });

  it('say "about" of a share only where it is no bound', async () => {
    const { formatShare } = await formatsOf('en-GB');
    expect(formatShare(0.001, 'about ')).toBe('under 1%');
    expect(formatShare(0.021, 'about ')).toBe('about 2%');
    expect(formatShare(0.021)).toBe('2%');
  });

  it('are British where the locale is not known', async () => {
    const { formatCount, formatDate } = await formatsOf('zz-ZZ');
    expect([formatCount(1_000), formatDate('2026-11-21')]).toEqual(['1,000', '21 Nov 2026']);
  });

  it('are read back in any of these forms', async () => {
    for (const language of ['en-US', 'de-DE', 'fr-FR', 'de-CH', 'ar-EG', 'hi-IN', 'fa-IR']) {
      const { formatCount, parseCount } = await formatsOf(language);
      for (const count of [1, 600, 10_000_000, 1_000_000_000])
        expect(parseCount(formatCount(count)), `${language} ${formatCount(count)}`).toBe(count);
    }
    const { parseCount } = await formatsOf('en-GB');
    expect(['', '1.5', '-1', '1e3', 'ten', '1,0'].map(parseCount)).toEqual([
      null,
      null,
      null,
      null,
      null,
      null,
    ]);
  });

  it('have their unit in the number they are in', async () => {
    const { formatUnits } = await formatsOf('en-GB');
    expect([0, 1, 2, 1_000].map((count) => formatUnits(count, 'policy', 'policies'))).toEqual([
      '0 policies',
      '1 policy',
      '2 policies',
      '1,000 policies',
    ]);
  });
});

it('a token keeps its own digits in every locale', async () => {
  await formatsOf('ar-EG');
  expect(groups('4111117309211111', 'card')).toEqual(['4111', '1173', '0921', '1111']);
});
