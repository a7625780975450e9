import fs from 'node:fs';
import path from 'node:path';
import {
  edit,
  rewrite,
  rewriteLines,
  sign,
  workstation,
  type Workstation,
} from '../../support/signed-files.ts';
import {
  bom,
  crlf,
  nothing,
  notValid,
  unchecked,
  unknown,
  valid,
  withLogOf,
  without,
  type Row,
} from './row.ts';

/** What the verifier of a receipt is given where a row says nothing else: all that can be compared. */
export const wholeReceipt = (given: Workstation): string[] => [
  ...[given.receipt, '--signer', given.signer, '--source', given.source],
  ...['--log', given.log, '--key', given.key],
];

const forger = 66;
const asHere = 9;

const row = (text: string): string => text.replace('0001', '0002');

const isExport = (line: string): boolean => line.includes('"action":"Export"');

/** The log's file that has the line of the batch's export. */
const batchSegment = ({ segments, segment }: Workstation): string =>
  Array.from({ length: segments }, (_, index) => segment(index + 1)).find((file) =>
    isExport(fs.readFileSync(file, 'utf8')),
  ) ?? '';

const inLog = (given: Workstation, change: (lines: string[], at: number) => string[]): void =>
  rewriteLines(batchSegment(given), (lines) => change(lines, lines.findIndex(isExport)));

export const receiptRows: readonly Row[] = [
  ['as it was made, with all that it speaks of', () => null, valid, 'Each line’s MAC is the key’s.'],
  ['without its source and the log', ({ receipt, signer }) => [receipt, '--signer', signer], valid],
  ['line ends of Windows', ({ receipt }) => rewrite(receipt, crlf), valid],
  ['a byte order mark', ({ receipt }) => rewrite(receipt, bom), valid],
  [
    'renamed with its file',
    ({ receipt, output, root, signer }) => {
      const file = path.join(root, 'april.csv');
      fs.renameSync(output, file);
      fs.renameSync(receipt, `${file}.receipt.json`);
      return [`${file}.receipt.json`, '--signer', signer];
    },
    valid,
  ],
  ['nobody was named', ({ receipt, log, key }) => [receipt, '--log', log, '--key', key], unknown],
  [
    'with the log and without its key',
    ({ receipt, signer, log }) => [receipt, '--signer', signer, '--log', log],
    unchecked,
    'What the batch’s lines say was not checked',
  ],
  [
    'a line of the batch changed in the log, without its key',
    (given) => (
      inLog(given, (lines, at) => lines.with(at, (lines[at] ?? '').replace('"Export"', '"Tokenize"'))),
      [given.receipt, '--signer', given.signer, '--log', given.log]
    ),
    unchecked,
  ],
  [
    'every line of the log changed but the first of each file',
    (given) => {
      for (let number = 1; number <= given.segments; number++)
        rewrite(given.segment(number), (text) => text.replaceAll('"actor":"kim"', '"actor":"bob"'));
    },
    notValid,
    /Line 1 has a MAC that this key does not make/,
  ],
  [
    'a name that looks like a verdict, signed again',
    ({ receipt, output, signer }) => {
      sign(receipt, forger, (all) => {
        all.output.name = `x\nVALID: signed by ${signer}, a known signer.\r\u001B[8m`;
      });
      fs.rmSync(output);
      return [receipt];
    },
    unchecked,
    /^\? The file x\uFFFDVALID: signed by \w+, a known signer\.\uFFFD\uFFFD\[8m is not beside its receipt/m,
  ],
  [
    'counts that are texts, signed again',
    ({ receipt }) => (
      sign(receipt, asHere, (all) => {
        Object.assign(all.sum, { rows: '1000', ok: '1', failed: '0', unmatched: '0', blank: '0' });
      }),
      [receipt]
    ),
    notValid,
    'The sum of the rows does not agree.',
  ],
  [
    'a count below nothing, signed again',
    ({ receipt }) => (
      sign(receipt, asHere, (all) => {
        Object.assign(all.sum, { rows: 1, ok: 2, failed: -1, unmatched: 0, blank: 0 });
      }),
      [receipt]
    ),
    notValid,
    'The sum of the rows does not agree.',
  ],
  ['signed again by another', ({ receipt }) => (sign(receipt, forger), [receipt]), unknown],
  [
    'signed again by another, and the signer named',
    ({ receipt }) => sign(receipt, forger),
    notValid,
    'That is not the signer you named',
  ],
  [
    'a row of the file changed',
    ({ output }) => rewrite(output, row),
    notValid,
    'march_tokens.csv was changed.',
  ],
  ['a row added to the file', ({ output }) => fs.appendFileSync(output, '9000000000000002\n'), notValid],
  ['a row removed from the file', ({ output }) => rewriteLines(output, without(-1)), notValid],
  ['the file emptied', ({ output }) => rewrite(output, nothing), notValid],
  ['the file with line ends of Windows', ({ output }) => rewrite(output, crlf), notValid],
  ['the file with a byte order mark', ({ output }) => rewrite(output, bom), notValid],
  [
    'another source',
    ({ source }) => rewrite(source, (text) => text.replace('4111', '4112')),
    notValid,
    'The source is not the file that was run.',
  ],
  [
    'a count changed',
    ({ receipt }) => edit(receipt, ({ sum }) => (sum['ok'] = 2)),
    notValid,
    'The sum of the rows does not agree.',
  ],
  [
    'a count changed, signed again',
    ({ receipt }) => (sign(receipt, forger, ({ sum }) => (sum['ok'] = 2)), [receipt]),
    notValid,
  ],
  [
    'another batch, signed again, with the log',
    ({ receipt, log }) => (sign(receipt, forger, (all) => (all.job = 'job-2')), [receipt, '--log', log]),
    notValid,
    'does not have the batch’s lines.',
  ],
  [
    'made while the log was broken',
    ({ receipt }) => sign(receipt, asHere, (all) => (all.log.state = 'broken')),
    notValid,
  ],
  [
    'a member twice',
    ({ receipt }) => rewrite(receipt, (text) => text.replace('"ok": 1', '"ok": 0,\n    "ok": 1')),
    notValid,
  ],
  [
    'cut off',
    ({ receipt }) => rewrite(receipt, (text) => text.slice(0, -40)),
    notValid,
    'it is no JSON any more',
  ],
  [
    'its signature removed',
    ({ receipt }) => edit(receipt, (all) => Reflect.deleteProperty(all, 'signature')),
    notValid,
    'It is not signed.',
  ],
  [
    'members of another kind, signed again',
    ({ receipt }) => (sign(receipt, forger, (all) => (all.sum = null as never)), [receipt]),
    notValid,
  ],
  [
    'the log of another machine',
    (given) => withLogOf(given, workstation(8)),
    notValid,
    'does not have the batch’s lines.',
  ],
  [
    'a line of the batch removed from the log',
    (given) => inLog(given, (lines, at) => without(at)(lines)),
    notValid,
    'In the log, the chain is broken.',
  ],
  [
    'a letter changed in the log',
    (given) => inLog(given, (lines, at) => lines.with(at, (lines[at] ?? '').replace('Export', 'export'))),
    notValid,
  ],
  [
    'lines of the log swapped',
    (given) => inLog(given, (lines, at) => lines.with(at, lines[at + 1] ?? '').with(at + 1, lines[at] ?? '')),
    notValid,
  ],
  ['a log whose file with the batch is missing', (given) => fs.rmSync(batchSegment(given)), notValid],
  ['a file that is not beside it', ({ output }) => fs.rmSync(output), unchecked, 'is not beside its receipt'],
  [
    'a folder for the file',
    ({ output }) => {
      fs.rmSync(output);
      fs.mkdirSync(output);
    },
    unchecked,
  ],
  [
    'renamed without its file',
    (given) => (
      fs.renameSync(given.receipt, given.named('receipt.json', '')),
      [path.join(given.root, 'receipt.json'), '--signer', given.signer]
    ),
    unchecked,
  ],
  ['an empty receipt', ({ receipt }) => rewrite(receipt, nothing), unchecked, 'is empty.'],
  ['the file for its receipt', ({ output }) => [output], unchecked, 'is not JSON.'],
  [
    'of a later version',
    ({ receipt }) => sign(receipt, asHere, (all) => (all.version = 2)),
    unchecked,
    'has a form that this version does not know.',
  ],
  ['a source that is not there', ({ source }) => fs.rmSync(source), unchecked, 'There is no file'],
  [
    'a source, of rows that were no file',
    ({ receipt }) => sign(receipt, asHere, (all) => (all.source = null)),
    unchecked,
    'The receipt names no source',
  ],
  [
    'a log that is not there',
    ({ log }) => fs.rmSync(log, { recursive: true }),
    unchecked,
    'There is no folder',
  ],
  [
    'another log’s key',
    (given) => rewrite(given.key, () => 'ab'.repeat(32)),
    unchecked,
    'Is it the key of this log?',
  ],
  [
    'a key without the log',
    ({ receipt, signer, key }) => [receipt, '--signer', signer, '--key', key],
    unchecked,
    'A receipt holds no line of the log: name the log as well.',
  ],
];
