import type { TrialVerdict } from '../../../electron/contract/models/profile-draft.ts';

/** What an example shows and the profile doesn't take; `names` are names of members. */
const remarks: Readonly<Record<string, (names: string) => string>> = {
  'path-fixed': (names) => `The example has it at ${names}. The specification fixes this path, so it stays.`,
  'path-unknown': () => 'The example doesn’t say where it is. Set the path.',
  method: (names) => `The example uses ${names}, which can’t be used for this.`,
  'request-missing': () => 'The example has no request body.',
  'request-nested': (names) =>
    `The request has its members inside ${names}. Tokendesk sends them beside each other.`,
  'session-in-header': (names) =>
    `The session stands in the header ${names}. Tokendesk sends it in the body alone, so this can’t be used as it is.`,
  'secret-in-header': (names) =>
    `The examples have the header ${names}, which speaks of a secret. It is not taken into the profile.`,
  'header-left': (names) =>
    `The examples have the header ${names}, which doesn’t speak of a version, tenant, account, region or format. It is not taken into the profile.`,
  'query-fixed': (names) => `The address also has ${names}. A profile can’t send these.`,
  'value-in-address': (names) =>
    `${names} stands in the address. Only names of token definitions may, since addresses are logged on the way.`,
  'members-left': (names) => `The request also has ${names}. A profile can’t send these.`,
  'parameter-unclear': (names) => `It isn’t clear which member is ${names}. Set it.`,
  'elements-without-reference': (names) =>
    `The elements of ${names} have no RefId. Answers are paired by it, never by their order.`,
  'answer-missing': () => 'The example has no answer.',
  'answer-number': (names) =>
    `${names} is a number in the answer. Only texts are read: a number may have lost digits.`,
  'answer-in-list': (names) => `The answer is inside the list ${names}, which is not read for one value.`,
  'answer-unclear': (names) => `It isn’t clear which member of the answer is the right one: ${names}.`,
  'reference-number': (names) => `The RefId comes back as a number in ${names}. Only texts are read.`,
  'reference-unclear': (names) => `No member of the answer’s elements is the RefId: ${names}.`,
  'example-unclear': (names) =>
    names === '1'
      ? 'Of one example it isn’t clear which operation it is of. Choose it there.'
      : `Of ${names} examples it isn’t clear which operation they are of. Choose them there.`,
  'dates-unclear': (names) =>
    `The form of the days in ${names} can’t be told from the example: day and month may be either way round. Set dates.`,
  'pages-unclear': (names) =>
    `The answer says in ${names} that there is more, and no member of the request asks for it. Set page; until then a report of several pages is not shown.`,
  'value-as-name': (names) =>
    `A member of the example is called by a value, so ${names} is not taken over. Set it.`,
  conflict: (names) => `The examples say different things of ${names}. The last one is taken; look at it.`,
};

export const formatRemark = ({ kind, names }: { readonly kind: string; readonly names: string }): string =>
  remarks[kind]?.(names) ?? names;

export const verdictLabels: Readonly<
  Record<TrialVerdict, { readonly label: string; readonly variant: 'ok' | 'warn' | 'danger' | 'quiet' }>
> = {
  understood: { label: 'Understood', variant: 'ok' },
  'other-value': { label: 'Another value than was expected', variant: 'danger' },
  'not-understood': { label: 'The answer was not understood', variant: 'danger' },
  nowhere: { label: 'Nothing lives at this address (404)', variant: 'danger' },
  'wrong-method': { label: 'The address takes another method (405)', variant: 'danger' },
  'wrong-type': { label: 'The service takes another content type (415)', variant: 'danger' },
  'not-signed-in': { label: 'The sign-in was not accepted (401)', variant: 'danger' },
  refused: { label: 'The policy may not do this (403)', variant: 'warn' },
  invalid: { label: 'The service did not accept the request', variant: 'danger' },
  tls: { label: 'The certificate was not accepted, nothing was sent', variant: 'danger' },
  unreachable: { label: 'No connection', variant: 'danger' },
  failed: { label: 'Failed', variant: 'danger' },
  'not-tried': { label: 'Not tried', variant: 'quiet' },
};
