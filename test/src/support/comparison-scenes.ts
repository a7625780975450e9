import { done } from '../../../electron/contract/errors.ts';
import type { Column } from '../../../electron/contract/models/batch.ts';
import { inProduction } from './batch-scenes.ts';
import type { FakeOptions } from './fake-bridge.ts';
import * as data from './fake-data.ts';

const state = inProduction;
const finished = data.job({
  jobId: 'job-0',
  sourceName: 'disputes-q4.csv',
  state: 'finished',
  endedAt: data.at(360),
});
const jobs = [finished];

/** A file whose card column is in clear, and which can be read in more than one way. */
const clear: Column[] = data.preview.columns.map((column) =>
  column.name === 'card_token'
    ? { ...column, name: 'card_number', content: 'cleartext', masked: true }
    : { ...column, content: null, looksLike: null },
);
const forty = Array.from({ length: 40 }, (_, index): Column => ({
  ...{ index, name: `field_${index + 1}`, looksLike: null, masked: false },
  content: index === 11 ? 'tokens' : null,
}));
const fortyPreview = {
  ...data.preview,
  ...{ columns: forty, notices: [], above: [forty.map(({ name }) => name)] },
  rows: data.preview.rows.map((row) => forty.map((_, n) => row[n % row.length] ?? '')),
};

export const comparisonScenes: Record<string, FakeOptions> = {
  comparison: { state, jobs },
  'comparison-empty': { state },
  'comparison-busy': { state, jobs, comparing: { share: 0.58, rows: 561_204 } },
  'comparison-failed': { state, jobs, fail: { 'compare.files': { code: 'compare.pasted' } } },
  'comparison-doubt': {
    state,
    jobs,
    answers: {
      'batch.preview': () =>
        done({
          ...data.preview,
          columns: clear,
          guesses: { encoding: ['windows-1252'], delimiter: null, header: false },
        }),
    },
  },
  'comparison-forty': { state, jobs, answers: { 'batch.preview': () => done(fortyPreview) } },
};
