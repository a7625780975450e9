import type { Notice } from '../../electron/contract/models/batch.ts';
import { formatCount, formatRows, formatUnits } from '../lib/format.ts';

/** What a notice is of, in a few words. */
export const noticeKinds: Readonly<Record<Notice['kind'], string>> = {
  'row-malformed': 'rows with the wrong number of fields',
  'record-length': 'records of another length',
  'bad-encoding': 'characters that do not fit the encoding',
  nul: 'NUL characters',
  'unclosed-quote': 'a quote that never closes',
  'field-too-long': 'fields that are too long',
  'header-duplicate': 'columns of one name',
  'header-empty': 'columns without a name',
  'header-damaged': 'a damaged header',
  'header-repeated': 'the header once more',
  'rows-in-cell': 'whole rows in a cell',
  'single-quotes': 'single quotes around cells',
  'escaped-quotes': 'quotes behind a backslash',
  'excel-rounded': 'rounded numbers',
  'formula-unevaluated': 'formulas without values',
  'case-missing': 'rows without a case',
  'value-unfit': 'values that do not fit',
  'looks-tokenized': 'what looks like tokens',
  'records-others': 'records of other types',
  'total-changes': 'a total that will no longer agree',
  'total-stays': 'a total that agrees',
  'total-wrong': 'a total that is wrong',
  'total-missing': 'a total that is missing',
};

/** `sampled`: as many rows as were looked at, while the file is not counted to its end. */
export function formatNotice(
  { kind, row, column, count, figure }: Notice,
  sampled: number | null = null,
): string {
  const isOne = count === 1;
  const shown = figure === undefined ? '' : ` (${figure})`;
  const where = isOne ? `row ${formatCount(row)}` : `first: row ${formatCount(row)}`;
  const many = formatCount(count);
  const rows = sampled === null ? formatRows(count) : `${many} of the first ${formatRows(sampled)}`;
  const ofSample = sampled === null ? '' : ` of the first ${formatRows(sampled)}`;
  const values = `${many} ${isOne ? 'value' : 'values'} in ${column ?? 'a column'}${ofSample}`;
  const sentences: Readonly<Record<Notice['kind'], string>> = {
    'row-malformed': `${rows} ${isOne ? 'has' : 'have'} the wrong number of fields (${where})`,
    'record-length': `${sampled === null ? formatUnits(count, 'record') : rows} ${isOne ? 'has' : 'have'} another length than the layout says and will not be sent (${where})`,
    'bad-encoding': `${rows} ${isOne ? 'has' : 'have'} characters that do not fit the encoding (${where})`,
    nul: `${rows} ${isOne ? 'has' : 'have'} NUL characters (${where})`,
    'unclosed-quote': `A quote never closes (${where})`,
    'field-too-long': `${rows} ${isOne ? 'has' : 'have'} a field that is too long (${where})`,
    'header-duplicate': `Two columns are named ${column ?? 'the same'}`,
    'header-empty': isOne ? '1 column has no name' : `${many} columns have no name`,
    'header-damaged':
      'The header has quotes that do not agree, or characters that do not fit the encoding. It is taken as it is.',
    'header-repeated': `The header row appears again (${where})`,
    'rows-in-cell': `${rows} ${isOne ? 'has' : 'have'} a cell between two quotes that holds whole rows (${where})`,
    'single-quotes': `${rows} ${isOne ? 'has' : 'have'} cells between single quotes, which are part of the value here (${where}). Export the file with double quotes or none.`,
    'escaped-quotes': `${rows} ${isOne ? 'has' : 'have'} a quote with a backslash before it, which is part of the value here (${where}). Export the file with each quote doubled.`,
    'excel-rounded': `${values} ${isOne ? 'was' : 'were'} rounded by a spreadsheet: digits are lost (${where})`,
    'formula-unevaluated': `${many} ${isOne ? 'cell' : 'cells'} in ${column ?? 'a column'} ${isOne ? 'is' : 'are'} blank: the workbook has formulas there without their values (${where}). Save it in a spreadsheet program and drop it again.`,
    'case-missing': `${rows} ${isOne ? 'has' : 'have'} no case in ${column ?? 'the column of cases'} and will not be sent (${where})`,
    'value-unfit': `${values} ${isOne ? 'does' : 'do'} not fit the definition and will not be sent (${where})`,
    'looks-tokenized': `${values} ${isOne ? 'looks like a token already: its check digit is' : 'look like tokens already: their check digits are'} wrong (${where})`,
    'records-others': `${formatUnits(count, 'record')} ${isOne ? 'is' : 'are'} of other types and ${isOne ? 'stays' : 'stay'} as ${isOne ? 'it is' : 'they are'}. Totals and hashes in ${isOne ? 'it' : 'them'} are not calculated anew.`,
    'total-changes': `${column ?? 'A total'}${shown} is made of what changes and will no longer agree: it is not calculated anew.`,
    'total-stays': `${column ?? 'A total'}${shown} is made of what is not changed and will agree.`,
    'total-wrong': `${column ?? 'A total'} in the file is not that of its records${shown}: the file may be cut or damaged.`,
    'total-missing': `The record with the ${column ?? 'total'} is missing: the file may be cut.`,
  };
  return sentences[kind];
}
