import type { FailureCode } from '../../electron/contract/errors.ts';
import { message, type Format } from './message.ts';

/** Members of an act, as a sentence names them. */
const memberLabels: Readonly<Record<string, string>> = {
  action: 'kind of act',
  rows: 'number of rows',
  values: 'number of values',
  columns: 'columns',
  connection: 'connection',
  environment: 'environment',
  policy: 'policy',
  definition: 'token definition',
  job: 'batch',
  jobFingerprint: 'content of the batch',
  reason: 'reason',
  caseReference: 'case',
};

export const approvalMessages = {
  'approval.invalid': () =>
    message(
      'This file is not a request or an answer as Tokendesk writes them.',
      'Ask for the file again, and send it as it is.',
    ),
  'approval.unsigned': () =>
    message(
      'The signature does not hold: the file was changed after it was signed.',
      'Ask for the file again. Tell your administrator if it happens twice.',
    ),
  'approval.same-person': () =>
    message('You can’t approve your own request.', 'Ask another person whose key was introduced here.'),
  'approval.signer': (f) =>
    message(
      `The answer is signed with a key that was not introduced here${f.subject === undefined ? '' : `: ${f.subject}`}.`,
      'Ask your administrator to introduce it.',
    ),
  'approval.declined': (f) =>
    message(`The request was declined${f.subject === undefined ? '' : ` by ${f.subject}`}.`, 'Ask them why.'),
  'approval.expired': () => message('The time for this request is over.', 'Make a new request.'),
  'approval.unknown': () =>
    message(
      'No request of this workstation waits for this answer: it was made on another one, or was used.',
      'Make a new request.',
    ),
  'approval.other-act': (f) =>
    message(
      `The answer is for something else${f.subject === undefined ? '' : `: the ${memberLabels[f.subject] ?? f.subject} differs`}.`,
      'Do exactly what was asked for, or make a new request.',
    ),
  'approval.too-many': (f) =>
    message(
      `Too many requests wait for an answer${f.subject === undefined ? '' : `: ${f.subject} at most`}.`,
      'Use or wait out one of them.',
      'later',
    ),
} satisfies Partial<Record<FailureCode, Format>>;
