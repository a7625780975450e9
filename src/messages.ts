import type { Failure, FailureCode } from '../electron/contract/errors.ts';
import type { SettingsDamage } from '../electron/contract/models/app.ts';

/** Whether trying again helps: at once, only after a while, or not before something was changed. */
export type Again = 'now' | 'later' | 'no';

export interface Message {
  /** What happened. */
  what: string;
  /** What to do, or whom to ask. */
  next: string;
  again: Again;
}

type Say = (failure: Failure) => Message;

const say = (what: string, next: string, again: Again = 'no'): Message => ({ what, next, again });

const operationWords: Record<string, string> = {
  Tokenize: 'tokenize',
  Detokenize: 'detokenize',
  GetMasked: 'mask',
  Translate: 'translate',
  BatchTokenize: 'tokenize batches of',
  BatchDetokenize: 'detokenize batches of',
  BatchTranslate: 'translate batches of',
  PatternMatch: 'match patterns on',
};

const policyOf = (f: Failure): string => (f.policy === undefined ? 'The policy' : `Policy ${f.policy}`);
const row = (f: Failure): string => (f.row === undefined ? 'A row' : `Row ${f.row.toLocaleString('en-GB')}`);
const host = (f: Failure): string => f.subject ?? 'the service';
const file = (f: Failure): string => f.subject ?? 'The file';

/** `flaw`: the platform's name for what did not hold; no name for a person. */
function untrusted(flaw: string): Message {
  if (flaw.includes('_ALERT_'))
    return say(
      'The service did not accept the secure connection, so nothing was sent.',
      'If it asks for a client certificate, choose one under Connections; otherwise ask the administrator.',
    );
  if (flaw.includes('EXPIRED'))
    return say('The certificate of the service has expired, so nothing was sent.', 'Tell the administrator.');
  if (flaw.includes('ALTNAME'))
    return say(
      'The certificate of the service is for another address, so nothing was sent.',
      'Check the base address of the connection, or ask the administrator.',
    );
  return say(
    'The certificate of the service is not trusted here, so nothing was sent.',
    'If your company uses its own certificate authority, add it to the connection; otherwise ask the administrator.',
  );
}

function refused(f: Failure): string {
  const act = operationWords[f.operation ?? ''] ?? 'do this';
  const on = act === 'do this' ? 'here' : (f.definition ?? 'this definition');
  return `The service refused this: ${f.policy === undefined ? 'this policy' : `policy ${f.policy}`} may not ${act} ${on}.`;
}

function named(f: Failure): string {
  const messages = (f.fields ?? []).map((field) => field.message);
  return messages.length === 0
    ? 'The service did not accept the value.'
    : `The service says: ${messages.join('; ')}.`;
}

function clockHint({ clockSkewMs }: Failure): string {
  if (clockSkewMs === undefined) return '';
  const minutes = Math.max(1, Math.round(Math.abs(clockSkewMs) / 60_000));
  return ` This computer’s clock is ${minutes} min ${clockSkewMs > 0 ? 'ahead of' : 'behind'} the service’s, which may be the cause: set it right first.`;
}

function waitWords(f: Failure): string {
  if (f.retryAfterMs === undefined) return 'Try again in a moment.';
  const seconds = Math.max(1, Math.ceil(f.retryAfterMs / 1_000));
  return seconds < 90 ? `Try again in ${seconds} s.` : `Try again in ${Math.ceil(seconds / 60)} min.`;
}

const sentences: Record<FailureCode, Say> = {
  'service.unreachable': (f) =>
    say(`No connection to ${host(f)}.`, 'Check the network or VPN, then try again.', 'later'),
  'service.timeout': (f) => say(`${f.subject ?? 'The service'} did not answer in time.`, 'Try again.', 'now'),
  'service.tls': (f) => untrusted(f.subject ?? ''),
  'service.proxy': (f) =>
    say(
      `The proxy ${f.subject ?? ''} did not let the request through.`.replace('  ', ' '),
      'Sign in to the proxy or ask your network team.',
    ),
  'service.redirect': () =>
    say(
      'The service answered with a redirect. Redirects are never followed, so nothing went elsewhere.',
      'Check the base address of the connection.',
    ),
  'service.not-json': (f) =>
    say(
      `Something other than the service answered at ${host(f)}, perhaps a proxy or a sign-in page of the network.`,
      'Open the network’s sign-in page in a browser, then try again.',
      'later',
    ),
  'service.unexpected-answer': (f) =>
    say(
      'The service answered in a form this profile does not know.' +
        (f.members === undefined || f.members.length === 0 ? '' : ` Its members: ${f.members.join(', ')}.`),
      'Ask the administrator to check the service profile.',
    ),
  'service.mismatched-answer': () =>
    say(
      'The answer did not match what was asked, so it was not used.',
      'Try again; if it stays, contact support.',
      'now',
    ),
  'service.invalid-input': (f) => say(named(f), 'Correct the value and try again.'),
  'service.credentials': (f) =>
    say(
      `${policyOf(f)} could not sign in: the API key, the policy name or its password is wrong.`,
      `Enter them again under Connections.${clockHint(f)}`,
    ),
  'service.key-expired': () =>
    say('The API key has expired.', 'Ask the administrator for a new key and enter it under Connections.'),
  'service.refused': (f) => say(refused(f), 'Choose another policy or ask the administrator to grant it.'),
  'service.not-found': (f) =>
    say(
      'The service does not know this.',
      f.definition === undefined
        ? 'Check the base address and the service profile.'
        : `Check the name of the definition ${f.definition} and the base address.`,
    ),
  'service.busy': (f) => say('The service’s request limit is reached.', waitWords(f), 'later'),
  'service.quota': (f) => say('Today’s transfers are used up.', waitWords(f), 'later'),
  'service.too-large': () => say('The request was too large for the service.', 'Send less at once.'),
  'service.failing': (f) => say('The service is having trouble.', waitWords(f), 'later'),
  'service.element-refused': (f) =>
    say(
      f.row === undefined
        ? 'The service refused this value.'
        : `The service refused the value of row ${f.row}.`,
      'Check that it is a token of the chosen definition.',
    ),
  'service.cancelled': () => say('Cancelled. Nothing more was sent.', 'Start again when you want.', 'now'),

  'credentials.missing': (f) =>
    say(
      f.subject !== undefined
        ? `The proxy’s password for ${f.subject} is not stored yet.`
        : f.policy === undefined
          ? 'The API key is not stored yet.'
          : `The password of policy ${f.policy} is not stored yet.`,
      'Enter it under Connections.',
    ),
  'credentials.too-long': () =>
    say('This secret is too long for the keychain.', 'Check that the right text was pasted.'),
  'keychain.locked': () => say('The system’s keychain is locked.', 'Unlock it, then try again.', 'later'),
  'keychain.unavailable': () =>
    say(
      'This computer has no keychain. Secrets are kept in memory and forgotten when the app closes.',
      'Ask the administrator to install one.',
    ),
  'keychain.stalled': () =>
    say('The system’s keychain does not answer.', 'Try again; if it stays, sign out and in.', 'later'),
  'connection.none': () =>
    say('No connection is chosen.', 'Choose one at the top or add one under Connections.'),
  'connection.unknown': (f) =>
    f.subject === undefined
      ? say('This connection no longer exists.', 'Choose another one.')
      : say(
          `The connection ${f.subject} no longer exists, so this batch can’t go on.`,
          'What was done is kept: cancel a paused batch, then export it. Start a new one for the rest.',
        ),
  'connection.invalid': (f) =>
    say(
      f.subject === undefined
        ? 'Something in this connection is not right.'
        : `This connection is not complete: ${f.subject}.`,
      'Correct it and save again.',
    ),
  'connection.built-in': () =>
    say('The built-in connection can’t be changed that way.', 'Add a connection of your own.'),
  'certificate.invalid': (f) =>
    f.subject === undefined
      ? say(
          'The extra certificate is not in PEM form.',
          'Paste the whole text, from BEGIN CERTIFICATE to END CERTIFICATE.',
        )
      : say(
          `The client certificate (${f.subject}) does not open.`,
          'Choose a PKCS #12 file with its key and give the passphrase it was made with.',
        ),

  'audit.unwritable': () =>
    say(
      'The audit log can’t be written, so nothing was sent.',
      'Free some disk space or ask the administrator.',
      'later',
    ),
  'audit.broken': (f) =>
    say(
      f.row === undefined
        ? 'The audit log has been changed from outside.'
        : `The audit log has been changed at entry ${f.row}.`,
      'Tell the administrator; do not delete it.',
    ),
  'app.locked': () => say('The app is locked.', 'Unlock it first.'),
  'unlock.wrong': () => say('That passphrase is not right.', 'Try again.', 'now'),
  'unlock.wait': (f) => say('Too many wrong tries.', waitWords(f), 'later'),
  'reveal.reason-required': () =>
    say('A reason and a case are needed before anything is shown in clear.', 'Fill them in.', 'now'),
  'reveal.throttled': (f) => say('Too many reveals in a short time.', waitWords(f), 'later'),
  'reveal.gone': () => say('This value is hidden again.', 'Reveal it once more if you still need it.', 'now'),
  'lookup.unknown': () => say('This lookup is no longer kept.', 'Look the token up again.', 'now'),
  'clipboard.unavailable': () => say('The clipboard can’t be used right now.', 'Try again.', 'now'),

  'file.unknown': () => say('This file is no longer open.', 'Drop it again.', 'now'),
  'file.gone': (f) => say(`${file(f)} is no longer there.`, 'Put it back or choose another file.'),
  'file.changed': (f) =>
    say(
      `${file(f)} has changed since the batch started.`,
      'Put the earlier file back, or start a new batch.',
    ),
  'file.unreadable': (f) => say(`${file(f)} can’t be read.`, 'Check that you may open it.'),
  'file.empty': (f) => say(`${file(f)} is empty.`, 'Choose another file.'),
  'file.too-many-columns': () =>
    say('This file has more columns than can be handled.', 'Check the delimiter.'),
  'file.exists': (f) => say(`${file(f)} is already there and was left as it is.`, 'Choose another name.'),
  'file.unwritable': (f) =>
    say(`${file(f)} can’t be written.`, 'Close it elsewhere or choose another folder.', 'now'),
  'file.disk-full': () =>
    say('The disk is full. What was there before is untouched.', 'Free some space, then go on.', 'later'),
  'file.paste-empty': () =>
    say('There was nothing in what was pasted.', 'Copy a column of tokens and paste again.', 'now'),
  'file.not-a-table': (f) =>
    say(
      `This is ${/^[aeio]/i.test(f.subject ?? 'a') ? 'an' : 'a'} ${f.subject ?? 'other kind of file'}, which can’t be read here.`,
      'Save its rows as CSV UTF-8, or as .xlsx without a password, and drop that.',
    ),
  'file.workbook-damaged': (f) =>
    say(
      `${file(f)} is damaged, or not the workbook it seems to be.`,
      'Open it in a spreadsheet program and save it again, as .xlsx or CSV UTF-8.',
    ),
  'file.workbook-too-large': (f) =>
    say(
      `${file(f)} unpacks to more than a workbook holds, so it was not read.`,
      'If you trust it, save it as CSV UTF-8 and drop that.',
    ),
  'file.workbook-cell': (f) =>
    say(
      `${row(f)} of the sheet would have a value of more than 32,767 characters, which no cell holds.`,
      'Export it as CSV.',
      'now',
    ),
  'file.workbook-full': () =>
    say('This is more than one sheet holds: 1,048,576 rows, or 4 GB.', 'Export it as CSV.', 'now'),
  'row.malformed': (f) =>
    say(`${row(f)} has more or fewer fields than the header.`, 'Correct it in the file.'),
  'row.unclosed-quote': (f) => say(`${row(f)} opens a quote that never closes.`, 'Correct it in the file.'),
  'row.field-too-long': (f) => say(`${row(f)} has a field that is too long.`, 'Correct it in the file.'),
  'row.bad-encoding': (f) =>
    say(`${row(f)} has characters that do not fit the encoding.`, 'Choose another encoding.'),
  'row.nul': (f) => say(`${row(f)} has NUL characters.`, 'Correct it in the file.'),
  'value.unfit': () =>
    say(
      'The value does not fit the kind of the definition, so it was not sent.',
      'Check the column or choose another definition.',
    ),

  'plan.empty': () => say('No column has been chosen yet.', 'Choose what to do in the head of a column.'),
  'plan.column-unknown': () => say('A chosen column is not in this file.', 'Choose the columns again.'),
  'plan.definition-unknown': (f) =>
    say(
      `This connection has no definition ${f.definition ?? 'of that name'}.`,
      'Choose another or add it under Connections.',
    ),
  'plan.policy-unknown': (f) =>
    say(
      `This connection has no policy ${f.policy ?? 'of that name'}.`,
      'Choose another or add it under Connections.',
    ),
  'pattern.invalid': () => say('The pattern is not a regular expression.', 'Check brackets and backslashes.'),
  'pattern.unsupported': () =>
    say('Lookaround and back-references are not supported in patterns.', 'Write the pattern without them.'),
  'job.unknown': () => say('This batch no longer exists.', 'Start a new one.'),
  'job.busy': () =>
    say('The batch can’t do that in its present state.', 'Wait until it has finished or pause it.', 'later'),
  'job.elsewhere': () =>
    say('Another window of Tokendesk is running this batch.', 'Go on there, or close it first.'),
  'job.damaged': () => say('What was stored for this batch can’t be read.', 'Start it again from the file.'),
  'job.sum': () =>
    say(
      'The counts do not agree, so the batch is not called done.',
      'Run it again; if it happens again, contact support.',
    ),
  'export.confirm': () =>
    say('Cleartext from production needs the row count typed in.', 'Type the number of rows.', 'now'),
  'export.passphrase': () => say('The passphrase is too short.', 'Use at least eight characters.', 'now'),

  'portal.sign-in': () => say('Nobody is signed in to the portal.', 'Sign in first.'),
  'portal.expired': () =>
    say(
      'The portal sign-in has ended.',
      'Sign in again. If it happens at once, check this computer’s clock.',
    ),
  'portal.credentials': () =>
    say('The portal did not accept this user and password.', 'Check both and sign in again.'),
  'portal.refused': () =>
    say(
      'The portal does not let this user see the account.',
      'Sign in again, or ask the administrator; check the account and tenant ID under Connections.',
    ),
  'portal.not-a-token': () =>
    say(
      'This is not a portal JWT.',
      'A JWT has three parts with dots between. Copy it whole and paste again.',
    ),
  'portal.account-missing': () =>
    say('This connection has no account ID or no tenant ID.', 'Enter both under Connections.'),
  'report.unknown': () => say('This report is no longer kept.', 'Load it again.', 'now'),
  'report.too-many-rows': () =>
    say('The answer has more rows than can be shown.', 'Choose a shorter range or another grouping.'),
  'report.not-a-chart': () => say('The chart could not be written.', 'Load the report again.', 'now'),
  'evidence.none': (f) =>
    say(
      `The audit log has nothing on ${f.subject === undefined ? 'this case' : `case ${f.subject}`}.`,
      'Check how the case is written.',
    ),

  'call.invalid': () => say('Something in the form is missing or too long.', 'Check what you entered.'),
  'call.refused': () => say('The app refused this.', 'Close the window and open it again.'),
  'call.failed': () =>
    say('Something inside the app failed.', 'Try again; if it stays, restart Tokendesk.', 'now'),
};

const againWords: Record<Again, string> = {
  now: '',
  later: 'Trying again right away won’t help.',
  no: 'Trying again won’t help by itself.',
};

export type Labels = (definition: string) => string;

/** `labels` gives a definition the name that people know it by. */
export function messageFor(failure: Failure, labels: Labels = (name) => name): Message {
  const { definition } = failure;
  const said = definition === undefined ? failure : { ...failure, definition: labels(definition) };
  return sentences[failure.code](said);
}

/** What happened, whether trying again helps, what to do: the whole of what a person reads. */
export function sentenceFor(failure: Failure, labels?: Labels): string {
  const { what, next, again } = messageFor(failure, labels);
  // Where the advice is to try again, or is the remedy itself, a sentence on trying again would say it twice.
  const helps = /try again/i.test(next) ? '' : againWords[again];
  return [what, helps, next].filter((part) => part !== '').join(' ');
}

/** Where the row stands beside it, a reason need not name it. */
const rowReasons: Partial<Record<FailureCode, string>> = {
  'value.unfit': 'Does not fit the definition, not sent',
  'row.malformed': 'More or fewer fields than the header',
  'row.unclosed-quote': 'A quote never closes',
  'row.field-too-long': 'A field is too long',
  'row.bad-encoding': 'Characters do not fit the encoding',
  'row.nul': 'Has NUL characters',
  'service.element-refused': 'Refused by the service',
  'service.refused': 'The policy does not grant this',
  'service.failing': 'The service had trouble',
  'service.timeout': 'No answer in time',
  'service.mismatched-answer': 'The answer did not fit the question',
};

/** One short line for a row or a group of rows. */
export function reasonFor(code: FailureCode): string {
  return rowReasons[code] ?? sentences[code]({ code }).what.replace(/\.$/, '');
}

export const isFailureCode = (code: string): code is FailureCode => Object.hasOwn(sentences, code);

/** What a person is told after a start with a settings file that could not be used as it was. */
export function settingsNotice({ reason, keptAs }: SettingsDamage): string {
  const lost = {
    unreadable: 'The settings could not be read and were reset.',
    unfit: 'Some settings could not be read and were reset.',
    newer:
      'The settings were saved by a newer version of Tokendesk. What this version does not know is not used.',
  };
  return `${lost[reason]} The file as it was is kept as ${keptAs}.`;
}
