import fs from 'node:fs';
import { signingKey } from '../../../electron/storage/signed-document.ts';
import {
  edit,
  rewrite,
  rewriteLines,
  sha256,
  sign,
  withDocument,
  workstation,
  type Workstation,
} from '../../support/signed-files.ts';
import {
  bom,
  crlf,
  doubled,
  nothing,
  notValid,
  swapped,
  unchecked,
  unknown,
  valid,
  withLogOf,
  without,
  type Row,
} from './row.ts';

/** What the verifier of evidence is given where a row says nothing else. */
export const ofSigner = ({ evidence, signer }: Workstation): string[] => [evidence, '--signer', signer];

const pageAlone = ({ page, signer }: Workstation): string[] => [page, '--signer', signer];
const withLog = (given: Workstation): string[] => [
  ...ofSigner(given),
  '--log',
  given.log,
  '--key',
  given.key,
];
const withList = (given: Workstation, list: string): string[] => [
  given.evidence,
  '--known-signers',
  given.named('list', list),
];

/** A seed of somebody who has not the workstation's key. */
const forger = 66;
const asHere = 9;

const reason = (text: string): string => text.replace('Gr', 'gr');

/** A line that was changed, with the SHA-256 that it then has. */
const changedLine = ({ lines: [line] }: { lines: { text: string; sha256: string }[] }): void => {
  if (line === undefined) return;
  line.text = reason(line.text);
  line.sha256 = sha256(line.text);
};

const signatureOf = (file: string): unknown =>
  (JSON.parse(fs.readFileSync(file, 'utf8')) as { signature: unknown }).signature;

const documentOf = (page: string): string =>
  /id="evidence">([^<]*)/.exec(fs.readFileSync(page, 'utf8'))?.[1] ?? '';

/** Evidence as it was before its page held it. */
function ofBefore(given: Workstation): void {
  fs.writeFileSync(given.page, '<!doctype html><title>Evidence</title>');
  sign(given.evidence, asHere, (document) => {
    document.version = 1;
    document.page.sha256 = sha256(fs.readFileSync(given.page));
  });
}

export const evidenceRows: readonly Row[] = [
  ['as it was made', () => null, valid],
  ['the page alone', pageAlone, valid],
  ['with its log and its key', withLog, valid, 'In the log, the chain goes on to the head.'],
  [
    'with its log and its key, as the keychain has it',
    (given) => (rewrite(given.key, (text) => `${text} {"checkpoint":1}`), withLog(given)),
    valid,
    'Each line’s MAC is the key’s.',
  ],
  [
    'with its key saved by an editor of Windows',
    (given) => (rewrite(given.key, (text) => crlf(`${bom(text)}\n`)), withLog(given)),
    valid,
  ],
  [
    'the signer in capital letters',
    ({ evidence, signer }) => [evidence, '--signer', signer.toUpperCase()],
    valid,
  ],
  [
    'signed by one of a list',
    (given) => withList(given, `# workstations\n${'0'.repeat(64)}\n${given.signer} desk 7\r\n`),
    valid,
    'That is a signer of your list: desk 7.',
  ],
  [
    'a list saved by an editor of Windows',
    (given) => withList(given, crlf(bom(`# workstations\n${given.signer}\n`))),
    valid,
  ],
  ['line ends of Windows', ({ evidence }) => rewrite(evidence, crlf), valid],
  ['a byte order mark', ({ evidence }) => rewrite(evidence, bom), valid],
  ['made before its page held it', ofBefore, valid],
  ['nobody was named', ({ evidence }) => [evidence], unknown],
  ['nobody was named, with the log', ({ evidence, log }) => [evidence, '--log', log], unknown],
  ['the signer is not in the list', (given) => withList(given, '0'.repeat(64)), unknown],
  ['signed again by another', ({ evidence }) => (sign(evidence, forger), [evidence]), unknown],
  [
    'signed again by another, the page alone',
    ({ evidence, page }) => (sign(evidence, forger), [page]),
    unknown,
  ],
  [
    'signed again by another, and the signer named',
    ({ evidence }) => sign(evidence, forger),
    notValid,
    'That is not the signer you named',
  ],
  [
    'changed and signed again by another, with the log',
    ({ evidence, log }) => (sign(evidence, forger, changedLine), [evidence, '--log', log]),
    notValid,
    '1 lines do not stand in the log',
  ],
  [
    'of another machine, and the signer named',
    async ({ signer }) => [(await workstation(8)).evidence, '--signer', signer],
    notValid,
  ],
  ['a letter changed', ({ evidence }) => rewrite(evidence, reason), notValid],
  [
    'a letter changed in the page beside it',
    ({ page }) => rewrite(page, reason),
    notValid,
    'The page was changed.',
  ],
  [
    'a letter changed in the page alone',
    (given) => (rewrite(given.page, reason), pageAlone(given)),
    notValid,
  ],
  [
    'a page of before that was changed',
    (given) => {
      ofBefore(given);
      fs.appendFileSync(given.page, ' ');
    },
    notValid,
  ],
  [
    'the page with the evidence of another machine',
    async ({ page }) => {
      const other = documentOf((await workstation(8)).page);
      rewrite(page, (text) => withDocument(text, other));
    },
    notValid,
    'The page was changed.',
  ],
  [
    'the page of another machine',
    async ({ page }) => fs.copyFileSync((await workstation(8)).page, page),
    notValid,
  ],
  [
    'the page with line ends of Windows',
    ({ page }) => rewrite(page, crlf),
    notValid,
    'The page was changed.',
  ],
  ['the page with a byte order mark', (given) => (rewrite(given.page, bom), pageAlone(given)), notValid],
  [
    'a member twice',
    ({ evidence }) =>
      rewrite(evidence, (text) => text.replace('"case": "D-1"', '"case": "D-9",\n  "case": "D-1"')),
    notValid,
  ],
  [
    'on one line',
    ({ evidence }) => rewrite(evidence, (text) => JSON.stringify(JSON.parse(text)).replace(',', ', ')),
    notValid,
  ],
  [
    'its first line removed',
    ({ evidence }) => edit(evidence, (all) => (all.lines = without(0)(all.lines))),
    notValid,
  ],
  [
    'its first line removed, signed again',
    ({ evidence }) => (sign(evidence, forger, (all) => (all.lines = without(0)(all.lines))), [evidence]),
    notValid,
  ],
  [
    'its last line removed',
    ({ evidence }) => edit(evidence, (all) => (all.lines = without(-1)(all.lines))),
    notValid,
  ],
  ['lines swapped', ({ evidence }) => edit(evidence, (all) => (all.lines = swapped(all.lines))), notValid],
  [
    'lines swapped, signed again',
    ({ evidence }) => (sign(evidence, forger, (all) => (all.lines = swapped(all.lines))), [evidence]),
    notValid,
    'The lines are not in order.',
  ],
  ['a line doubled', ({ evidence }) => edit(evidence, (all) => (all.lines = doubled(all.lines))), notValid],
  [
    'a line doubled, signed again',
    ({ evidence }) => (sign(evidence, forger, (all) => (all.lines = doubled(all.lines))), [evidence]),
    notValid,
  ],
  [
    'no lines, signed again',
    ({ evidence }) => (sign(evidence, forger, (all) => (all.lines = [])), [evidence]),
    notValid,
  ],
  [
    'a beginning removed, signed again',
    ({ evidence }) => (sign(evidence, forger, (all) => (all.lines = without(2)(all.lines))), [evidence]),
    notValid,
    /Entry \d+ ends what never began/,
  ],
  [
    'the case called otherwise, signed again',
    ({ evidence }) => (sign(evidence, forger, (all) => (all.case = 'D-9')), [evidence]),
    notValid,
    'Line 1 is of another case.',
  ],
  [
    'a link removed, signed again',
    ({ evidence }) => (sign(evidence, forger, (all) => (all.links = without(2)(all.links))), [evidence]),
    notValid,
  ],
  [
    'members of another kind, signed again',
    ({ evidence }) => (sign(evidence, forger, (all) => (all.links = [7] as never)), [evidence]),
    notValid,
  ],
  ...(
    [
      ['an attribute of the page', '<html lang="en">', '<html lang="en" hidden>'],
      ['a comment before the page’s text', '<html', '<!-- x --><html'],
      ['another document type of the page', 'html>', 'html SYSTEM "about:legacy-compat">'],
      [
        'a shadow root in the page',
        'tabindex="0">',
        'tabindex="0"><template shadowrootmode="closed">x</template>',
      ],
      ['an end tag missing in the page', '</td>', ''],
    ] as const
  ).map(([what, from, to]): Row => [
    what,
    ({ page, signer }) => (rewrite(page, (text) => text.replace(from, to)), [page, '--signer', signer]),
    notValid,
    /was (?:cut off or )?changed/,
  ]),
  [
    'line ends of Windows in the page',
    ({ page, signer }) => (rewrite(page, crlf), [page, '--signer', signer]),
    notValid,
  ],
  [
    'made while the log was broken',
    ({ evidence }) => sign(evidence, asHere, (all) => (all.log.state = 'broken')),
    notValid,
    'The log was already broken when this was made.',
  ],
  [
    'cut off',
    ({ evidence }) => rewrite(evidence, (text) => text.slice(0, -40)),
    notValid,
    'it is no JSON any more',
  ],
  [
    'the page cut off',
    (given) => (rewrite(given.page, (text) => text.slice(0, -40)), pageAlone(given)),
    notValid,
  ],
  [
    'its signature removed',
    ({ evidence }) => edit(evidence, (all) => Reflect.deleteProperty(all, 'signature')),
    notValid,
    'It is not signed.',
  ],
  [
    'its signature emptied',
    ({ evidence }) => edit(evidence, (all) => (all.signature = null)),
    notValid,
    'It is not signed.',
  ],
  [
    'the signature of another evidence',
    async ({ evidence }) => {
      const { evidence: other } = await workstation(8);
      edit(evidence, (all) => (all.signature = signatureOf(other)));
    },
    notValid,
    'The signature does not hold',
  ],
  [
    'the key of another signer',
    ({ evidence }) =>
      edit(evidence, (all) =>
        Object.assign(all.signature as object, {
          publicKey: signingKey(new Uint8Array(32).fill(forger)).publicKey.toString('base64'),
        }),
      ),
    notValid,
  ],
  [
    'a bit of the signature’s Base64 that no byte has',
    ({ evidence }) =>
      rewrite(evidence, (text) =>
        text.replace(
          /(.)(==")/,
          (_all, last: string, end: string) => String.fromCharCode(last.charCodeAt(0) + 1) + end,
        ),
      ),
    notValid,
  ],
  [
    'a member of the signature that nobody signed',
    ({ evidence }) =>
      rewrite(evidence, (text) =>
        text.replace('"algorithm": "Ed25519"', '"algorithm": "Ed25519",\n    "by": "us"'),
      ),
    notValid,
  ],
  [
    'the log of another machine',
    async (given) => (await withLogOf(given, workstation(8)), [...ofSigner(given), '--log', given.log]),
    notValid,
    'None of the lines stands in the log',
  ],
  [
    'a log whose first file is missing',
    (given) => (fs.rmSync(given.segment(1)), [...ofSigner(given), '--log', given.log]),
    notValid,
  ],
  [
    'a log whose last file is missing',
    (given) => (fs.rmSync(given.segment(given.segments)), [...ofSigner(given), '--log', given.log]),
    notValid,
  ],
  [
    'a log with a letter of another case changed',
    (given) => (
      rewrite(given.segment(1), (text) => text.replace('Gr', 'gr')),
      [...ofSigner(given), '--log', given.log]
    ),
    valid,
  ],
  [
    'a log with a line of another case removed',
    (given) => (rewriteLines(given.segment(2), without(-1)), [...ofSigner(given), '--log', given.log]),
    notValid,
    'In the log, the chain does not reach the head.',
  ],
  [
    'a log with line ends of Windows',
    (given) => (rewrite(given.segment(1), crlf), [...ofSigner(given), '--log', given.log]),
    notValid,
  ],
  ['a mistyped file', ({ evidence }) => [`${evidence}x`], unchecked, 'There is no file'],
  ['a folder for the file', ({ root }) => [root], unchecked, 'is a folder, not a file.'],
  ['an empty file', ({ evidence }) => rewrite(evidence, nothing), unchecked, 'is empty.'],
  ['an empty page', (given) => (rewrite(given.page, nothing), pageAlone(given)), unchecked, 'is empty.'],
  ['a file that is no JSON', ({ named }) => [named('text', 'Dear reviewer')], unchecked, 'is not JSON.'],
  ['JSON that is no evidence', ({ named }) => [named('list.json', '[]')], unchecked, 'is not evidence.'],
  ['null', ({ named }) => [named('null.json', 'null')], unchecked, 'is not evidence.'],
  [
    'another page',
    ({ named }) => [named('page.html', '<!doctype html><p>Hello')],
    unchecked,
    'is a page that holds no evidence.',
  ],
  [
    'of a later version',
    ({ evidence }) => sign(evidence, asHere, (all) => (all.version = 3)),
    unchecked,
    'has a form that this version does not know.',
  ],
  ['a page that is not there', ({ page }) => fs.rmSync(page), unchecked, 'is not beside the file'],
  [
    'a log that is not there',
    (given) => [...ofSigner(given), '--log', `${given.log}x`],
    unchecked,
    'There is no folder',
  ],
  [
    'a file for the log',
    (given) => [...ofSigner(given), '--log', given.segment(1)],
    unchecked,
    'is a file, not a folder.',
  ],
  [
    'a folder without a log',
    (given) => [...ofSigner(given), '--log', given.root],
    unchecked,
    'There is no log in',
  ],
  [
    'another log’s key',
    (given) => (rewrite(given.key, () => 'ab'.repeat(32)), withLog(given)),
    unchecked,
    'Is it the key of this log?',
  ],
  [
    'a key that is none',
    (given) => (rewrite(given.key, () => 'short'), withLog(given)),
    unchecked,
    'is not a key of 32 bytes.',
  ],
  [
    'an empty key file',
    (given) => (rewrite(given.key, nothing), withLog(given)),
    unchecked,
    'is not a key of 32 bytes.',
  ],
  [
    'a key that is not there',
    (given) => [...ofSigner(given), '--key', `${given.key}s`],
    unchecked,
    'There is no file',
  ],
  [
    'a fingerprint that is none',
    ({ evidence }) => [evidence, '--signer', 'ab'],
    unchecked,
    'A signer is named by 64 hexadecimal digits',
  ],
  ['a list that names nobody', (given) => withList(given, '# none\n'), unchecked, 'names no signer.'],
  [
    'a list that is none',
    ({ evidence }) => [evidence, '--known-signers', evidence],
    unchecked,
    'that is no fingerprint of a signer.',
  ],
  [
    'a list that is not there',
    ({ evidence }) => [evidence, '--known-signers', `${evidence}s`],
    unchecked,
    'There is no file',
  ],
  [
    'a list and a signer',
    (given) => [...withList(given, given.signer), '--signer', given.signer],
    unchecked,
    'not both.',
  ],
  [
    'a source, as a receipt has',
    (given) => [...ofSigner(given), '--source', given.source],
    unchecked,
    'Only a receipt has a source',
  ],
  [
    'a misspelt option',
    ({ evidence, signer }) => [evidence, '--singer', signer],
    unchecked,
    "Unknown option '--singer'.",
  ],
  ['no file', () => [], unchecked, 'No file was named.'],
  ['two files', ({ evidence, page }) => [evidence, page], unchecked, 'One file is verified at a time'],
];
