import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Grouping } from '../../../electron/contract/models/report.ts';
import { keyExpiry } from '../../../electron/contract/key-expiry.ts';
import { partOf, chartData } from '../../../src/features/reports/chart-data.ts';
import {
  addDays,
  daysIn,
  daysOf,
  presetOf,
  presetRange,
  presets,
  rangeProblem,
  formatDay,
  formatRange,
} from '../../../src/features/reports/dates.ts';
import { failureHelp } from '../../../src/features/reports/failed-requests.svelte.ts';
import { changeOf, formatRate } from '../../../src/features/reports/labels.ts';
import { figuresOf } from '../support/fake-reports.ts';

const now = Date.parse('2026-11-21T23:30:00Z');

describe('days', () => {
  it('are UTC, both ends included', () => {
    expect(presetRange('7', now)).toEqual({ from: '2026-11-15', to: '2026-11-21' });
    expect(presetRange('month', now)).toEqual({ from: '2026-11-01', to: '2026-11-21' });
    expect(presetRange('last-month', Date.parse('2026-03-31T00:00:00Z'))).toEqual({
      from: '2026-02-01',
      to: '2026-02-28',
    });
    for (const { id } of presets) expect(presetOf(presetRange(id, now), now)).not.toBeNull();
    expect(presetOf({ from: '2026-01-02', to: '2026-01-03' }, now)).toBeNull();
  });

  it('are counted without a gap over leap days and clock changes', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 20_000 }), fc.integer({ min: 0, max: 399 }), (start, length) => {
        const from = addDays('1990-01-01', start);
        const range = { from, to: addDays(from, length) };
        const days = daysOf(range);
        expect(days).toHaveLength(daysIn(range));
        expect(new Set(days).size).toBe(length + 1);
        expect(days.at(-1)).toBe(range.to);
      }),
    );
  });

  it('can be asked for up to today, in order, and 400 at most', () => {
    expect(rangeProblem({ from: '2026-11-21', to: '2026-11-21' }, now)).toBeNull();
    expect(rangeProblem({ from: addDays('2026-11-21', -399), to: '2026-11-21' }, now)).toBeNull();
    expect(rangeProblem({ from: addDays('2026-11-21', -400), to: '2026-11-21' }, now)).toMatch(/400 days/);
    expect(rangeProblem({ from: '2026-11-21', to: '2026-11-22' }, now)).toMatch(/in the future/);
    expect(rangeProblem({ from: '2026-11-21', to: '2026-11-20' }, now)).toMatch(/after the last/);
    expect(rangeProblem({ from: '', to: '2026-11-21' }, now)).toMatch(/both days/);
    expect(rangeProblem({ from: '2026-11-21', to: '' }, now)).toMatch(/both days/);
  });

  it('are formatted with the year where it is needed; other text is unchanged', () => {
    expect(formatRange({ from: '2026-10-23', to: '2026-11-21' })).toBe('23 Oct – 21 Nov 2026');
    expect(formatRange({ from: '2025-12-30', to: '2026-01-02' })).toBe('30 Dec 2025 – 2 Jan 2026');
    expect(formatDay('week 47')).toBe('week 47');
  });
});

describe('an API key', () => {
  const on = (date: string, time: string) => keyExpiry(date, new Date(time));

  it('has reminders at 30, 7 and 1 days', () => {
    expect(keyExpiry(null, new Date())).toEqual({ state: 'unknown' });
    expect(on('2026-12-31', '2026-11-30T12:00:00Z')).toEqual({ state: 'fine', days: 31 });
    expect(on('2026-12-31', '2026-12-01T12:00:00Z')).toEqual({ state: 'soon', days: 30, reminder: 30 });
    expect(on('2026-12-31', '2026-12-24T00:00:00Z')).toEqual({ state: 'soon', days: 7, reminder: 7 });
    expect(on('2026-12-31', '2026-12-30T00:00:00Z')).toEqual({ state: 'soon', days: 1, reminder: 1 });
    expect(on('2026-12-31', '2026-12-31T18:00:00Z')).toEqual({ state: 'soon', days: 0, reminder: 1 });
  });

  it('is expired once its day has ended everywhere on Earth', () => {
    expect(on('2026-12-31', '2027-01-01T11:59:59Z').state).toBe('soon');
    expect(on('2026-12-31', '2027-01-01T12:00:00Z')).toEqual({ state: 'over', days: 1 });
  });
});

describe('a chart', () => {
  const label = (name: string) => name.toUpperCase();
  const query = { from: '2026-11-01', to: '2026-11-21' } as const;
  const definitions = Array.from({ length: 20 }, (_, at) => `definition-${at}`);

  it('has every day, also those without requests', () => {
    const figures = figuresOf({ ...query, grouping: 'day' }, definitions);
    const model = chartData({ ...figures, rows: figures.rows.slice(3) }, label, '2026-11-21');
    if (model?.kind !== 'days') throw new Error(model?.kind);
    expect(model.points.map(({ day }) => day)).toEqual(daysOf(query));
    expect(model.points.slice(0, 3).every(({ requests }) => requests === 0)).toBe(true);
  });

  it('marks today as not complete, and no day before it', () => {
    const model = chartData(figuresOf({ ...query, grouping: 'day' }, definitions), label, '2026-11-21');
    if (model?.kind !== 'days') throw new Error(model?.kind);
    expect(model.points.filter(({ isPartial }) => isPartial).map(({ day }) => day)).toEqual(['2026-11-21']);
  });

  it('of a year has weeks, and loses no request', () => {
    const year = { from: '2025-11-22', to: '2026-11-21', grouping: 'day' } as const;
    const figures = figuresOf(year, definitions);
    const model = chartData(figures, label, '2026-11-21');
    if (model?.kind !== 'days') throw new Error(model?.kind);
    expect(model.points).toHaveLength(53);
    expect(model.points.reduce((sum, { requests }) => sum + requests, 0)).toBe(figures.requests);
    expect(model.points.reduce((sum, { failed }) => sum + failed, 0)).toBe(figures.failed);
    // The first week is cut by the range, the last one is not over.
    expect(model.points.map(({ isPartial }) => isPartial)).toEqual([
      true,
      ...Array<boolean>(51).fill(false),
      true,
    ]);
    expect(model.points[1]).toMatchObject({ day: '2025-11-24', name: 'Week 24 Nov – 30 Nov 2025' });
  });

  it('ranks groups, and says how many it leaves to the table', () => {
    const model = chartData(
      figuresOf({ ...query, grouping: 'definition' }, definitions),
      label,
      '2026-11-21',
    );
    if (model?.kind !== 'ranked') throw new Error(model?.kind);
    expect(model.rows).toHaveLength(12);
    expect(model.rest).toBe(8);
    expect(model.rows[0]?.label).toBe('DEFINITION-0');
    const counts = model.rows.map(({ requests }) => requests);
    expect(counts).toEqual(counts.toSorted((one, other) => other - one));
  });

  it('of everything combined loses no request', () => {
    const figures = figuresOf({ ...query, grouping: 'all' }, definitions);
    const model = chartData(figures, label, '2026-11-21');
    if (model?.kind !== 'series') throw new Error(model?.kind);
    expect(model.rows).toHaveLength(20);
    const drawn = model.rows.flatMap(({ points }) => points).reduce((sum, { requests }) => sum + requests, 0);
    expect(drawn).toBe(figures.requests);
  });

  it('of everything on one day has bars, since a line of one point says nothing', () => {
    const day = { from: '2026-11-20', to: '2026-11-20', grouping: 'all' } as const;
    const model = chartData(figuresOf(day, definitions.slice(0, 3)), label, '2026-11-21');
    if (model?.kind !== 'ranked') throw new Error(model?.kind);
    expect(model.rows.map(({ id }) => id)).toEqual(definitions.slice(0, 3));
  });

  it('stands for days, weeks, a definition or an operation that can be asked about', () => {
    const of = (grouping: Grouping, from: string, id: string) =>
      partOf({ query: { from, to: '2026-11-21', grouping } }, id, label);
    expect(of('day', '2026-11-01', '2026-11-10').days).toEqual({ from: '2026-11-10', to: '2026-11-10' });
    expect(of('day', '2025-11-22', '2026-11-09').days).toEqual({ from: '2026-11-09', to: '2026-11-15' });
    expect(of('definition', '2026-11-01', 'ssn')).toMatchObject({ definition: 'ssn', label: label('ssn') });
    expect(of('all', '2026-11-01', 'ssn')).toMatchObject({ definition: 'ssn' });
    expect(of('operation', '2026-11-01', 'Tokenize')).toEqual({ label: 'Tokenize', operation: 'Tokenize' });
  });

  it('takes groups of a kind it does not know', () => {
    const figures = figuresOf({ ...query, grouping: 'all' }, definitions);
    const rows = [
      { day: null, definition: null, operation: null, requests: 5, failed: null, more: { lane: 'x' } },
    ];
    expect(chartData({ ...figures, rows }, label, '2026-11-21')).toEqual({
      kind: 'ranked',
      rows: [{ id: '', label: 'Everything', requests: 5, failed: 0 }],
      rest: 0,
    });
    expect(chartData({ ...figures, rows: [] }, label, '2026-11-21')).toBeNull();
  });
});

it('a rate is never 100 % while something failed', () => {
  expect(formatRate(1_000_000, 1)).toBe('99.9%');
  expect(formatRate(10, 0)).toBe('100%');
  expect(formatRate(0, 0)).toBe('–');
  expect(formatRate(10, null)).toBe('–');
  expect(changeOf(110, 100)).toEqual({ text: '10%', direction: 'up' });
  expect(changeOf(5, 0)).toEqual({ text: 'No earlier data', direction: 'same' });
  expect(changeOf(null, 3)).toBeNull();
});

it('every status has a meaning and advice', () => {
  for (const status of [null, 400, 401, 403, 404, 418, 429, 500, 503]) {
    const { meaning, advice } = failureHelp({ status, operation: 'Whatever' });
    expect(meaning).not.toBe('');
    expect(advice).not.toBe('');
  }
});
