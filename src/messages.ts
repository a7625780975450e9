import type { Failure, FailureCode } from '../electron/contract/errors.ts';
import { formatCount } from './format.ts';
import { rowReasons } from '../electron/contract/row-reasons.ts';
import type { SettingsDamage } from '../electron/contract/models/app.ts';

/** Whether trying again helps: at once, only after a while, or only once something was changed. */
export type Retry = 'now' | 'later' | 'no';

export interface Message {
  /** What happened. */
  summary: string;
  /** What to do, or whom to ask. */
  advice: string;
  retry: Retry;
}

type Format = (failure: Failure) => Message;

const message = (summary: string, advice: string, retry: Retry = 'no'): Message => ({
  summary,
  advice,
  retry,
});

const operationLabels: Record<string, string> = {
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
const row = (f: Failure): string => (f.row === undefined ? 'A row' : `Row ${formatCount(f.row)}`);
const host = (f: Failure): string => f.subject ?? 'the service';
const file = (f: Failure): string => f.subject ?? 'The file';

/** `flaw` is the platform's error code of the TLS failure; it is not shown. */
function certificateMessage(flaw: string): Message {
  if (flaw.includes('_ALERT_'))
    return message(
      'The service did not accept the secure connection, so nothing was sent.',
      'If it asks for a client certificate, choose one under Connections; otherwise ask the administrator.',
    );
  if (flaw.includes('EXPIRED'))
    return message(
      'The certificate of the service has expired, so nothing was sent.',
      'Tell the administrator.',
    );
  if (flaw.includes('ALTNAME'))
    return message(
      'The certificate of the service is for another address, so nothing was sent.',
      'Check the base URL of the connection, or ask the administrator.',
    );
  return message(
    'The certificate of the service is not trusted here, so nothing was sent.',
    'If your company uses its own certificate authority, add it to the connection; otherwise ask the administrator.',
  );
}

function formatRefused(f: Failure): string {
  const act = operationLabels[f.operation ?? ''] ?? 'do this';
  const on = act === 'do this' ? 'here' : (f.definition ?? 'this definition');
  return `The service refused this: ${f.policy === undefined ? 'this policy' : `policy ${f.policy}`} may not ${act} ${on}.`;
}

/** A refused token is the commonest of all failures: its sentence names what a person can change. */
function tokenMessage(f: Failure): Message {
  const kind = f.definition === undefined ? 'token' : `${f.definition} token`;
  return message(
    `The service doesn’t recognise this as a ${kind}${formatCodes(f)}.`.replace(/ a ([AEIO])/, ' an $1'),
    'Check the digits or choose another definition.',
  );
}

function invalidMessage(f: Failure): Message {
  if (f.fields?.some(({ name }) => name === 'tokenValue') === true) return tokenMessage(f);
  return message(formatInvalid(f), 'Correct the value and try again.');
}

/** The service's own reason: its messages, and its codes where they have no sentence here. */
function formatInvalid(f: Failure): string {
  const messages = (f.fields ?? []).map((field) => field.message).join('; ');
  return messages === ''
    ? `The service did not accept the value${formatCodes(f)}.`
    : `The service did not accept this: ${messages}${formatCodes(f)}.`;
}

const formatCodes = ({ code, codes = [] }: Failure): string =>
  code === 'service.invalid-input' && codes.length > 0 ? ` (${codes.join(', ')})` : '';

function clockHint({ clockSkewMs }: Failure): string {
  if (clockSkewMs === undefined) return '';
  const minutes = Math.max(1, Math.round(Math.abs(clockSkewMs) / 60_000));
  return ` This computer’s clock is ${minutes} min ${clockSkewMs > 0 ? 'ahead of' : 'behind'} the service’s, which may be the cause: set it right first.`;
}

function formatWait(f: Failure): string {
  if (f.retryAfterMs === undefined) return 'Try again in a moment.';
  const seconds = Math.max(1, Math.ceil(f.retryAfterMs / 1_000));
  return seconds < 90 ? `Try again in ${seconds} s.` : `Try again in ${Math.ceil(seconds / 60)} min.`;
}

const messages: Record<FailureCode, Format> = {
  'service.unreachable': (f) =>
    message(`No connection to ${host(f)}.`, 'Check the network or VPN, then try again.', 'later'),
  'service.timeout': (f) =>
    message(`${f.subject ?? 'The service'} did not answer in time.`, 'Try again.', 'now'),
  'service.tls': (f) => certificateMessage(f.subject ?? ''),
  'service.proxy': (f) =>
    f.subject?.endsWith('://') === true
      ? message(
          f.subject === '://'
            ? 'The address of the proxy can’t be used.'
            : `A proxy of this kind or with this address can’t be used: ${f.subject}.`,
          'Choose an HTTP, HTTPS or SOCKS5 proxy in the system’s settings, or ask your network team.',
        )
      : f.subject === '407'
        ? message(
            'The proxy asks for a sign-in, so nothing was sent.',
            'Enter its user name and password at the connection. If it asks for NTLM or Kerberos, ask your administrator.',
          )
        : message(
            `The proxy did not let the request through${f.subject === undefined ? '' : ` (${f.subject})`}.`,
            'Ask your network team.',
          ),
  'service.redirect': () =>
    message(
      'The service answered with a redirect. Redirects are never followed, so nothing went elsewhere.',
      'Check the base URL of the connection.',
    ),
  'service.not-json': (f) =>
    message(
      `Something other than the service answered at ${host(f)}, perhaps a proxy or a sign-in page of the network.`,
      'Open the network’s sign-in page in a browser, then try again.',
      'later',
    ),
  'service.unexpected-answer': (f) =>
    message(
      'The service answered in a form this profile does not know.' +
        (f.members === undefined || f.members.length === 0 ? '' : ` Its members: ${f.members.join(', ')}.`),
      'Ask the administrator to check the service profile.',
    ),
  'service.mismatched-answer': () =>
    message(
      'The answer did not match what was asked, so it was not used.',
      'Try again. If the problem continues, contact support.',
      'now',
    ),
  'service.invalid-input': invalidMessage,
  'service.credentials': (f) =>
    message(
      `${policyOf(f)} could not sign in: the API key, the policy name or its password is wrong.`,
      `Enter them again under Connections.${clockHint(f)}`,
    ),
  'service.key-expired': () =>
    message(
      'The API key has expired.',
      'Ask the administrator for a new key and enter it under Connections.',
    ),
  'service.key-revoked': () =>
    message(
      'The API key of this connection was revoked in the portal.',
      'Ask the administrator for a new key and enter it under Connections.',
    ),
  'service.policy-revoked': (f) =>
    message(
      `${policyOf(f)} was revoked in the portal, so nothing can be done with it any more.`,
      'Choose another policy.',
    ),
  'service.refused': (f) =>
    message(formatRefused(f), 'Choose another policy or ask the administrator to grant it.'),
  'service.definition-disabled': (f) =>
    message(
      f.definition === undefined
        ? 'This token definition is disabled in the portal.'
        : `The token definition ${f.definition} is disabled in the portal.`,
      'Choose another definition, or ask the administrator to enable it.',
    ),
  'service.not-found': (f) =>
    message(
      'The service does not know this.',
      f.definition === undefined
        ? 'Check the base URL and the service profile.'
        : `Check the name of the definition ${f.definition} and the base URL.`,
    ),
  'service.busy': (f) => message('The service’s request limit is reached.', formatWait(f), 'later'),
  'service.quota': (f) => message('Today’s transfers are used up.', formatWait(f), 'later'),
  'service.too-large': () => message('The request was too large for the service.', 'Send less at once.'),
  'service.failing': (f) => message('The service is having trouble.', formatWait(f), 'later'),
  'service.element-refused': (f) =>
    message(
      f.row === undefined
        ? 'The service refused this value.'
        : `The service refused the value of row ${f.row}.`,
      'Check that it is a token of the chosen definition.',
    ),
  'service.value-invalid': (f) =>
    message(
      `The service does not take this as a value of ${f.definition ?? 'the definition'}.`,
      'Correct it and try again.',
    ),
  'service.value-too-long': (f) =>
    message(
      `The value is too long for ${f.definition ?? 'the definition'}.`,
      'Shorten it or choose another definition.',
    ),
  'service.token-invalid': tokenMessage,
  'service.empty-value': () =>
    message(
      'The service answered this value with an empty one, so the cell was left as it was.',
      'Ask the administrator; if an empty answer is right, the service profile can say so.',
    ),
  'service.broken-value': () =>
    message(
      'The service answered this value with a character that is not whole, so the cell was left as it was.',
      'Contact the service’s support.',
    ),
  'service.echoed-value': (f) =>
    message(
      f.operation === 'Detokenize' || f.operation === 'BatchDetokenize'
        ? 'The service answered with the token that was sent, not with its cleartext.'
        : 'The service answered with the value that was sent, not with a token or a mask. It is not used.',
      'Ask the administrator: the service profile may name the wrong member of the answer.',
    ),
  'service.cancelled': () =>
    message('Cancelled. Nothing more was sent.', 'Start again when you are ready.', 'now'),

  'credentials.missing': (f) =>
    message(
      f.subject !== undefined
        ? `The proxy’s password for ${f.subject} is not stored yet.`
        : f.policy === undefined
          ? 'The API key is not stored yet.'
          : `The password of policy ${f.policy} is not stored yet.`,
      'Enter it under Connections.',
    ),
  'credentials.too-long': () =>
    message('This secret is too long for the keychain.', 'Check that the right text was pasted.'),
  'keychain.locked': () => message('The system’s keychain is locked.', 'Unlock it, then try again.', 'later'),
  'keychain.unavailable': () =>
    message(
      'This computer has no keychain. Secrets stay in memory and are forgotten when the app closes.',
      'Ask the administrator to install one.',
    ),
  'keychain.stalled': () =>
    message(
      'The system’s keychain is not responding.',
      'Try again. If the problem continues, sign out of this computer and in again.',
      'later',
    ),
  'profile.member': () =>
    message(
      'This member can’t be read as the answer.',
      'Choose another one, or import a service profile that describes the answer.',
    ),
  'profile.cleartext': (f) =>
    message(
      `A member called ${f.subject ?? 'value'} is never read as a token or a mask: other services put cleartext there.`,
      'Choose another member of the answer.',
    ),
  'connection.none': () =>
    message('No connection is chosen.', 'Choose one at the top or add one under Connections.'),
  'connection.unknown': (f) =>
    f.subject === undefined
      ? message('This connection no longer exists.', 'Choose another one.')
      : message(
          `The connection ${f.subject} no longer exists, so this batch can’t go on.`,
          'Finished rows are saved. Cancel the batch to export them, and start a new one for the rest.',
        ),
  'connection.invalid': (f) =>
    message(
      f.subject === undefined
        ? 'Something in this connection is not right.'
        : `This connection is not complete: ${f.subject}.`,
      'Correct it and save again.',
    ),
  'connection.environment': () =>
    message(
      'A connection with stored secrets can’t be moved to a lower environment.',
      'Remove it, and add it again with the secrets of that environment.',
    ),
  'connection.built-in': () =>
    message('The built-in connection can’t be changed that way.', 'Add a connection of your own.'),
  'connection.built-in-off': () =>
    message('Your administrator does not allow the built-in service.', 'Use another connection.'),
  'connection.host': (f) =>
    message(
      `Your administrator does not allow connections to ${host(f)}.`,
      'Use a host that is allowed, or ask your administrator.',
    ),
  'import.invalid': (f) =>
    message(
      `This is not a file of connections that can be read${f.subject === undefined ? '' : `: ${f.subject}`}.`,
      'Nothing was changed. Choose another file, or have it written again.',
    ),
  'import.unknown': () =>
    message(
      'Something changed since this import was shown, so nothing was imported.',
      'Choose the file again.',
      'now',
    ),
  'certificate.invalid': (f) =>
    f.subject === undefined
      ? message(
          'The extra certificate is not in PEM form.',
          'Paste the whole text, from BEGIN CERTIFICATE to END CERTIFICATE.',
        )
      : message(
          `The client certificate (${f.subject}) does not open.`,
          'Choose a PKCS #12 file with its key and give the passphrase it was made with.',
        ),
  'certificate.slow': (f) =>
    message(
      `The client certificate (${f.subject ?? 'PKCS #12'}) is encrypted so that it takes too long to open.`,
      'Export it again with fewer rounds, as TLS programs do by themselves: a few thousand.',
    ),

  'audit.unwritable': () =>
    message(
      'The audit log can’t be written, so nothing was sent.',
      'Free some disk space or ask the administrator.',
      'later',
    ),
  'audit.broken': (f) =>
    message(
      f.row === undefined
        ? 'The audit log has been changed, or an older one put in its place.'
        : `The audit log has been changed at entry ${f.row}.`,
      'Tell the administrator; do not delete it.',
    ),
  'link.refused': () =>
    message(
      'The link could not be used: it is not one that opens a case or a token.',
      'Enter the case or the token by hand.',
    ),
  'app.locked': () => message('The app is locked.', 'Unlock it first.'),
  'unlock.wrong': () => message('Wrong passphrase.', 'Try again.', 'now'),
  'unlock.too-short': (f) =>
    message(`The passphrase is too short.`, `Give at least ${f.subject ?? '8'} characters.`, 'now'),
  'unlock.passphrase-required': () =>
    message('Your administrator asks for a passphrase.', 'Set one first.', 'now'),
  'unlock.verifier-lost': () =>
    message(
      'The keychain no longer has what the passphrase is checked with.',
      'Somebody may have removed it. The app opens only after a reset, which forgets all stored secrets.',
    ),
  'unlock.wait': (f) => message('Too many wrong tries.', formatWait(f), 'later'),
  'reveal.reason-required': () =>
    message(
      'A reason and a case are needed before anything is shown in clear.',
      'Enter them and try again.',
      'now',
    ),
  'reveal.reason-refused': () =>
    message('Your administrator does not accept this reason.', 'Choose one of the list.', 'now'),
  'wipe.batch-running': () =>
    message('A batch is running, so nothing was removed.', 'Pause or cancel it first.', 'now'),
  'wipe.unavailable': () =>
    message(
      'Everything can’t be removed from this window.',
      'Close the app and run tokendesk --wipe in a terminal.',
    ),
  'settings.managed': () =>
    message('This setting is managed by your administrator.', 'Ask your administrator to change it.'),
  'reveal.throttled': (f) =>
    message('You’ve revealed too many values in a short time.', formatWait(f), 'later'),
  'reveal.gone': () =>
    message('This value is hidden again.', 'Reveal it once more if you still need it.', 'now'),
  'disclosure.limit': (f) =>
    f.subject === 'expressions'
      ? message(
          'You have reached today’s limit of different expressions. Each one reveals something that the masks hide.',
          'Use one of today’s expressions again, match by BIN, last four, length or mail domain, or continue tomorrow.',
          'later',
        )
      : message(
          'You have reached today’s limit for cleartext.',
          'Continue tomorrow, or ask your administrator.',
          'later',
        ),
  'lookup.unknown': () => message('This lookup is no longer in the list.', 'Look the token up again.', 'now'),
  'clipboard.unavailable': () => message('The clipboard can’t be used right now.', 'Try again.', 'now'),

  'file.unknown': () => message('This file is no longer open.', 'Drop it again.', 'now'),
  'file.refused': () =>
    message(
      'A file that is dropped must be a .csv, .tsv, .txt, .xlsx or .xlsm on this computer, and not hidden.',
      'Open any other file with “Choose a file”.',
    ),
  'file.gone': (f) => message(`${file(f)} is no longer there.`, 'Put it back or choose another file.'),
  'file.changed': (f) =>
    message(
      `${file(f)} has changed since the batch started.`,
      'Put the earlier file or a copy of it back, or start a new batch.',
    ),
  'file.unreadable': (f) => message(`${file(f)} can’t be read.`, 'Check that you may open it.'),
  'file.empty': (f) => message(`${file(f)} is empty.`, 'Choose another file.'),
  'file.too-many-columns': () => message('This file has too many columns.', 'Check the delimiter.'),
  'file.exists': (f) => message(`${file(f)} is already there and was left as it is.`, 'Choose another name.'),
  'file.unwritable': (f) =>
    message(`${file(f)} can’t be written.`, 'Close it elsewhere or choose another folder.', 'now'),
  'file.disk-full': () =>
    message(
      'The disk is full. What was there before is untouched.',
      'Free some space, then continue.',
      'later',
    ),
  'file.no-room': (f) =>
    message(
      `${file(f)} would take more than half of the disk’s free space, so it was not read.`,
      'Free some space, then open it again.',
      'later',
    ),
  'file.paste-empty': () =>
    message('The pasted text is empty.', 'Copy a column of tokens and paste again.', 'now'),
  'file.not-a-table': (f) =>
    message(
      `This is ${/^[aeio]/i.test(f.subject ?? 'a') ? 'an' : 'a'} ${f.subject ?? 'other kind of file'}, which can’t be read here.`,
      'Save its rows as CSV UTF-8, or as .xlsx without a password, and drop that.',
    ),
  'file.workbook-damaged': (f) =>
    message(
      `${file(f)} is damaged, or not the workbook it seems to be.`,
      'Open it in a spreadsheet program and save it again, as .xlsx or CSV UTF-8.',
    ),
  'file.workbook-too-large': (f) =>
    message(
      `${file(f)} unpacks to more than a workbook holds, so it was not read.`,
      'If you trust it, save it as CSV UTF-8 and drop that.',
    ),
  'file.workbook-slow': (f) =>
    message(
      `${file(f)} took too long to read, so it was not opened.`,
      'If you trust it, save it as CSV UTF-8 and drop that.',
    ),
  'file.workbook-cell': (f) =>
    message(
      `${row(f)} of the sheet would have a value of more than 32,767 characters, which no cell holds.`,
      'Export it as CSV.',
      'now',
    ),
  'file.workbook-full': () =>
    message('This is more than one sheet holds: 1,048,576 rows, or 4 GB.', 'Export it as CSV.', 'now'),
  'row.malformed': (f) =>
    message(`${row(f)} has more or fewer fields than the header.`, 'Correct it in the file.'),
  'row.unclosed-quote': (f) =>
    message(`${row(f)} opens a quote that never closes.`, 'Correct it in the file.'),
  'row.field-too-long': (f) => message(`${row(f)} has a field that is too long.`, 'Correct it in the file.'),
  'row.bad-encoding': (f) =>
    message(`${row(f)} has characters that do not fit the encoding.`, 'Choose another encoding.'),
  'row.nul': (f) => message(`${row(f)} has NUL characters.`, 'Correct it in the file.'),
  'value.unencodable': () =>
    message(
      'The encoding of the export has not all characters of a cell. A result was left out, any other cell is empty.',
      'Export it in UTF-8, or as an Excel workbook.',
    ),
  'value.check-digit': () => message('The check digit of the value is wrong.', 'Correct it in the file.'),
  'value.length': () => message('The value has too few or too many digits.', 'Correct it in the file.'),
  'value.ssn-area': () =>
    message('No Social Security number begins with 000, 666 or 900 to 999.', 'Correct it in the file.'),
  'value.ssn-zeros': () =>
    message('No Social Security number has group 00 or serial 0000.', 'Correct it in the file.'),
  'value.unfit': () =>
    message(
      'The value does not fit the kind of the definition, so it was not sent.',
      'Check the column or choose another definition.',
    ),

  'plan.empty': () => message('No column has been chosen yet.', 'Choose an action in a column header.'),
  'plan.column-unknown': () => message('A chosen column is not in this file.', 'Choose the columns again.'),
  'plan.definition-unknown': (f) =>
    message(
      `This connection has no definition ${f.definition ?? 'of that name'}.`,
      'Choose another or add it under Connections.',
    ),
  'plan.policy-unknown': (f) =>
    message(
      `This connection has no policy ${f.policy ?? 'of that name'}.`,
      'Choose another or add it under Connections.',
    ),
  'pattern.forbidden': () =>
    message('Your administrator does not allow batches to match values.', 'Ask your administrator.'),
  'pattern.invalid': () =>
    message('The pattern is not a regular expression.', 'Check brackets and backslashes.'),
  'pattern.unsupported': () =>
    message(
      'Lookaround and back-references are not supported in patterns.',
      'Write the pattern without them.',
    ),
  'pattern.slow': () =>
    message('The pattern takes too long to try.', 'Make it shorter, with smaller repetitions.'),
  'pattern.too-many': (f) =>
    message(
      `Two columns of ${f.definition ?? 'one definition'} have an expression of their own.`,
      'Use an expression for one of them, and run the other one later.',
    ),
  'job.unknown': () => message('This batch no longer exists.', 'Start a new one.'),
  'job.busy': () =>
    message(
      'The batch can’t do that in its present state.',
      'Wait until it has finished or pause it.',
      'later',
    ),
  'job.elsewhere': () =>
    message('Another window of Tokendesk is running this batch.', 'Continue there, or close it first.'),
  'job.source-gone': (f) =>
    message(
      `${file(f)} is no longer where it was. The counts and the reasons for failures are still here, but the rows can’t be shown, exported or sent: their other columns are only in that file.`,
      'Put it or a copy of it back under its name, and everything works again. Or discard the batch.',
    ),
  'job.damaged': () =>
    message('What was stored for this batch can’t be read.', 'Start it again from the file.'),
  'job.braked': () =>
    message(
      'Most of the values were refused, so the batch paused.',
      'Check its column, definition and policy.',
    ),
  'job.sum': () =>
    message(
      'The counts do not add up, so the batch does not count as finished.',
      'Run it again; if it happens again, contact support.',
    ),
  'export.confirm': () =>
    message('Cleartext from production needs the row count typed in.', 'Type the number of rows.', 'now'),
  'export.passphrase': () => message('The passphrase is too short.', 'Use at least eight characters.', 'now'),
  'mend.other-list': () =>
    message(
      'This is not the list of failed rows of this batch.',
      'Choose the list that was exported here. Its columns and row numbers must be as they were.',
    ),
  'mend.too-many': (f) =>
    message(
      `The list has too many rows${f.subject === undefined ? '' : `: ${f.subject} is the most`}.`,
      'Divide it into parts.',
    ),
  'mend.twice': () => message('The row stands in the list twice.', 'Leave one of them.'),
  'mend.masked': () => message('A changed cell still has a masked value.', 'Type the whole value.'),
  'mend.not-failed': () => message('The row did not fail, so it stays as it is.', 'Nothing is to be done.'),
  'export.encoding': () =>
    message(
      'The chosen encoding has not all characters of the header.',
      'Choose UTF-8, which has every character.',
      'now',
    ),

  'export.unencrypted': () =>
    message(
      'Your administrator allows cleartext in encrypted files only.',
      'Encrypt the file with a passphrase, or export masked values.',
      'now',
    ),
  'export.forbidden': () =>
    message('Your administrator allows no cleartext in files.', 'Export masked values or tokens.'),

  'portal.sign-in': () => message('Nobody is signed in to the portal.', 'Sign in first.'),
  'portal.expired': () =>
    message(
      'The portal sign-in has ended.',
      'Sign in again. If it happens at once, check this computer’s clock.',
    ),
  'portal.credentials': () =>
    message('The portal did not accept this user and password.', 'Check both and sign in again.'),
  'portal.refused': () =>
    message(
      'The portal does not let this user see the account.',
      'Sign in again, or ask the administrator; check the account and tenant ID under Connections.',
    ),
  'portal.role': () =>
    message(
      'This portal user is not an administrator of the account.',
      'Sign in as a user with the role AccountAdmin or a higher one.',
    ),
  'portal.name-taken': (f) =>
    message(
      f.subject === undefined ? 'This name is taken.' : `The name ${f.subject} is taken.`,
      'Choose another name.',
    ),
  'portal.no-operation': () =>
    message(
      'The service profile of this connection names no operation for this.',
      'Do it in the service’s own portal.',
    ),
  'portal.secret-gone': (f) =>
    message(
      `This ${f.subject ?? 'secret'} is no longer held here.`,
      'Make a new one: the service shows each of them once.',
    ),
  'portal.not-a-token': () =>
    message(
      'This is not a portal JWT.',
      'A JWT has three parts separated by dots. Copy it whole and paste again.',
    ),
  'portal.account-missing': () =>
    message('This connection has no account ID or no tenant ID.', 'Enter both under Connections.'),
  'report.unknown': () => message('This report is no longer loaded.', 'Load it again.', 'now'),
  'report.too-many-rows': () =>
    message('The answer has more rows than can be shown.', 'Choose a shorter range or another grouping.'),
  'report.not-a-chart': () => message('The chart could not be written.', 'Load the report again.', 'now'),
  'evidence.none': (f) =>
    message(
      `The audit log has nothing on ${f.subject === undefined ? 'this case' : `case ${f.subject}`}.`,
      'Check how the case is written.',
    ),

  'call.invalid': () => message('Something in the form is missing or too long.', 'Check what you entered.'),
  'call.refused': () => message('The app refused this.', 'Close the window and open it again.'),
  'call.failed': () =>
    message(
      'Something went wrong in Tokendesk.',
      'Try again. If the problem continues, restart Tokendesk.',
      'now',
    ),
};

const retryAdvice: Record<Retry, string> = {
  now: '',
  later: 'Trying again right away won’t help.',
  no: '',
};

/** The label of a definition, by its name at the service. */
export type Labels = (definition: string) => string;

export function messageFor(failure: Failure, labels: Labels = (name) => name): Message {
  const { definition } = failure;
  const labelled = definition === undefined ? failure : { ...failure, definition: labels(definition) };
  return messages[failure.code](labelled);
}

/** Everything a person reads about a failure: what happened, whether trying again helps, what to do. */
export function sentenceFor(failure: Failure, labels?: Labels): string {
  const { summary, advice, retry } = messageFor(failure, labels);
  // Advice that mentions trying again needs no second sentence on it.
  const helps = /try again/i.test(advice) ? '' : retryAdvice[retry];
  return [summary, helps, advice].filter((part) => part !== '').join(' ');
}

/** One short line for a row or a group of rows. */
export function reasonFor(code: FailureCode): string {
  return rowReasons[code] ?? messages[code]({ code }).summary.replace(/\.$/, '');
}

export const isFailureCode = (code: string): code is FailureCode => Object.hasOwn(messages, code);

/** What a person is told after a start with a settings file that could not be used as it was. */
export function settingsNotice({ reason, keptAs }: SettingsDamage): string {
  const lost = {
    unreadable: 'The settings could not be read and were reset.',
    unfit: 'Some settings could not be read and were reset.',
    newer:
      'The settings were saved by a newer version of Tokendesk. What this version does not know is not used.',
  };
  return `${lost[reason]} The file as it was is saved as ${keptAs}.`;
}
