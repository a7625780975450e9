import type { FailureCode } from '../../electron/contract/errors.ts';
import { formatWait, message, type Format } from './message.ts';

/** What the app itself says: the lock, reveals, settings, the log, reports, its own calls. */
export const appMessages = {
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
  'app.busy': () =>
    message(
      'This computer is so busy that reading could not begin in time.',
      'Try again. If it happens again, close other programs first.',
      'now',
    ),
  'unlock.wrong': () => message('Wrong passphrase.', 'Try again.', 'now'),
  'unlock.too-short': (f) =>
    message(`The passphrase is too short.`, `Give at least ${f.subject ?? '8'} characters.`, 'now'),
  'unlock.passphrase-required': () =>
    message('Your administrator asks for a passphrase.', 'Set one first.', 'now'),
  'unlock.unsure': () =>
    message(
      'The system’s keychain failed and did not say whether the passphrase was set, changed or removed.',
      'When you unlock next, enter the new passphrase, and if it is wrong the one before; if it was to be removed, any opens once it is. What the keychain says then is in force.',
    ),
  'unlock.verifier-lost': () =>
    message(
      'The keychain does not have what the passphrase is checked with.',
      'This folder came from another computer, or somebody removed it. The app opens only after a reset, which forgets all stored secrets.',
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
  'provided.unreachable': (f) =>
    message(
      `The connections that your administrator provides can’t be read now${f.subject === undefined ? '' : ` (${f.subject})`}.`,
      'What was taken last stays in use. If this goes on, tell your administrator.',
      'later',
    ),
  'provided.unsigned': () =>
    message(
      'The file with your administrator’s connections has no signature that holds, so it was not taken.',
      'What was taken last stays in use. Tell your administrator.',
    ),
  'provided.signer': (f) =>
    message(
      `The file with your administrator’s connections is signed by ${f.subject ?? 'somebody else'}, who is not named in the settings of this computer, so it was not taken.`,
      'What was taken last stays in use. Tell your administrator.',
    ),
  'provided.older': (f) =>
    message(
      `The file with your administrator’s connections is older than the one that was taken last${f.subject === undefined ? '' : ` (${f.subject})`}, so it was not taken.`,
      'What was taken last stays in use. Tell your administrator.',
    ),
  'provided.invalid': (f) =>
    message(
      `The file with your administrator’s connections can’t be used${f.subject === undefined ? '' : ` (${f.subject})`}, so it was not taken.`,
      'What was taken last stays in use. Tell your administrator.',
    ),
  'settings.managed': () =>
    message('This setting is managed by your administrator.', 'Ask your administrator to change it.'),
  'reveal.throttled': (f) =>
    message('You’ve revealed too many values in a short time.', formatWait(f), 'later'),
  'guess.reason-required': () =>
    message(
      'Very many of these values have the same mask. Their tokens would tell which number stands behind a masked one.',
      'Run them as a batch and give a reason, or continue tomorrow.',
      'later',
    ),
  'reveal.gone': () =>
    message('This value is hidden again.', 'Reveal it once more if you still need it.', 'now'),
  'reveal.shown': () => message('This value is already shown.', 'Hide it before you reveal it again.', 'now'),
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
  'story.no-token': () =>
    message(
      'This cell has no token.',
      'Choose a cell of a column that was detokenized, masked, tokenized, translated or matched.',
    ),
  'story.too-many': () =>
    message(
      'This batch has more tokens than are recorded of one.',
      'A token of its last rows may be missing in a story. While its results are still there, search for it in the table.',
    ),
  'clipboard.unavailable': () => message('The clipboard can’t be used right now.', 'Try again.', 'now'),
  'report.unknown': () => message('This report is no longer loaded.', 'Load it again.', 'now'),
  'report.too-many-rows': () =>
    message('The answer has more rows than can be shown.', 'Choose a shorter range or another grouping.'),
  'report.more-pages': () =>
    message('The service sent only a part of this report.', 'Choose a shorter range or another grouping.'),
  'report.day-form': (f) =>
    message(
      'The service wrote the days of this report in a form that can’t be read.',
      `Ask whoever maintains the service profile: ${f.subject ?? 'the form'} is expected, or YYYY-MM-DD.`,
    ),
  'report.not-a-chart': () => message('The chart could not be written.', 'Load the report again.', 'now'),
  'evidence.none': (f) =>
    message(
      `The audit log has nothing on ${f.subject === undefined ? 'this case' : `case ${f.subject}`}.`,
      'Check how the case is written.',
    ),
  'call.invalid': () => message('Something in the form is missing or too long.', 'Check what you entered.'),
  'call.refused': () => message('The app refused this.', 'Close the window and open it again.'),
  'call.leak': () =>
    message(
      'Tokendesk held back an answer that had a value in clear in it.',
      'Tell your administrator: the log of acts says which answer it was.',
    ),
  'call.failed': () =>
    message(
      'Something went wrong in Tokendesk.',
      'Try again. If the problem continues, restart Tokendesk.',
      'now',
    ),
} satisfies Partial<Record<FailureCode, Format>>;
