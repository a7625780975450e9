import type { FailureCode } from '../../electron/contract/errors.ts';
import type { ApprovalAct } from '../../electron/contract/models/approval.ts';
import { formatCount, formatRows } from '../lib/format.ts';
import { message, type Format } from './message.ts';

/** Members of an act, as a sentence names them. */
const memberLabels: Readonly<Record<string, string>> = {
  actions: 'kind of act',
  rows: 'number of rows',
  values: 'number of values',
  columns: 'columns',
  connection: 'connection',
  environment: 'environment',
  policy: 'policy',
  definition: 'token definition',
  job: 'batch',
  reason: 'reason',
  caseReference: 'case',
  words: 'form',
  source: 'file',
  exact: 'content, its file or its form',
};

const labelOf = (member: string | undefined): string | undefined =>
  member === undefined ? undefined : memberLabels[member];

export const approvalMessages = {
  'approval.needed': (f) =>
    message(
      labelOf(f.subject) === undefined
        ? 'A second person has to approve this first. Nothing was done.'
        : `A second person has to approve this first: the answer that waits is for something else, since the ${labelOf(f.subject)} differs. Nothing was done.`,
      'Write a request with the line at the top of the window, open the answer, and do the same once more.',
    ),
  'approval.none': () =>
    message(
      'Nothing waits for a second person.',
      'Do first what you need. If it takes a second person, it is asked for then.',
    ),
  'approval.invalid': () =>
    message(
      'This is not a request or an answer as Tokendesk writes them.',
      'Ask for the file again, and send it as it is.',
    ),
  'approval.unsigned': () =>
    message(
      'The signature does not hold: the file was changed after it was signed.',
      'Ask for the file again. Tell your administrator if it happens twice.',
    ),
  'approval.same-person': () =>
    message(
      'Nobody can be the second person for themselves: key, name and passphrase have to be another person’s.',
      'Ask another person.',
    ),
  'approval.signer': (f) =>
    message(
      `The answer is signed with a key that was not introduced here${f.subject === undefined ? '' : `: ${f.subject}`}.`,
      'Ask your administrator to introduce it.',
    ),
  'approval.declined': (f) =>
    message(`The request was declined${f.subject === undefined ? '' : ` by ${f.subject}`}.`, 'Ask them why.'),
  'approval.expired': () => message('The time for this request is over.', 'Make a new request.'),
  'approval.clock': () =>
    message(
      'The request was made later than the clock of this computer says it is.',
      'Set the clock of both computers right, and make a new request.',
    ),
  'approval.unknown': () =>
    message(
      'The audit log of this workstation has no such request, or was changed since: nothing is approved by this answer.',
      'Make a new request here.',
    ),
  'approval.used': () =>
    message('This answer was used already. It is good for one act.', 'Make a new request.'),
  'approval.other-act': (f) =>
    message(
      `This is not what was asked for or shown${labelOf(f.subject) === undefined ? '' : `: the ${labelOf(f.subject)} differs`}.`,
      'Look at what is asked for now. Do exactly that, or make a new request.',
    ),
  'approval.spoken': () =>
    message(
      'These are not the first sixteen characters of the fingerprint.',
      'Have the other person read them to you again. If they differ, the fingerprint is not theirs: don’t introduce it.',
    ),
  'approval.too-many': (f) =>
    message(
      `There are as many people as may be, or this one is there already${f.subject === undefined ? '' : `: ${f.subject} at most`}.`,
      'Remove one who is not needed any more.',
    ),
  'approval.desk-unknown': () =>
    message(
      'Nobody of this name was set up at this desk.',
      'Choose a name of the list, or set the person up first.',
    ),
} satisfies Partial<Record<FailureCode, Format>>;

const actLabels: Readonly<Record<ApprovalAct['actions'][number], string>> = {
  Reveal: 'reveal one value',
  Copy: 'copy one value in clear',
  Export: 'export',
  Match: 'match with an expression',
  Guess: 'tokenize values of few masks',
  Move: 'move values to another connection',
};

/** `Export: 500 rows, up to 1,000 values in clear.` */
export function actSentence({ actions, rows, values }: ApprovalAct): string {
  const what = actions.map((action) => actLabels[action]).join(' and ');
  const amount = ['Reveal', 'Copy'].includes(actions[0] ?? '')
    ? ''
    : `: ${formatRows(rows)}, up to ${formatCount(values)} ${values === 1 ? 'value' : 'values'}`;
  return `${what.charAt(0).toUpperCase()}${what.slice(1)}${amount}.`;
}

/** In groups of four, as it is read aloud. */
export const formatFingerprint = (fingerprint: string): string =>
  fingerprint.replaceAll(/(.{4})(?=.)/g, '$1 ');
