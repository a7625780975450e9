import { z } from 'zod';

/**
 * The closed list of failures, as the window receives them. A code says what happened; `src/messages/messages.ts` alone makes
 * the sentence that a person reads.
 */
export const failureCodes = [
  // the service
  'service.unreachable', // no connection: DNS, refused, network down
  'service.timeout',
  'service.tls', // the certificate or handshake was not accepted
  'service.proxy', // the proxy wants a sign-in or failed
  'service.redirect', // it answered with a redirect; those are never followed
  'service.not-json', // something else answered: a captive portal, a proxy page
  'service.unexpected-answer', // JSON, but not the members the profile lists
  'service.mismatched-answer', // elements missing, doubled or foreign
  'service.invalid-input', // 400; `fields` carries its messages
  'service.credentials', // CreateSession refused: API key, policy or password wrong
  'service.key-expired',
  'service.key-revoked', // in the portal
  'service.policy-revoked',
  'service.refused', // the policy does not grant the operation for the definition
  'service.definition-disabled', // in the portal, for every policy
  'service.not-found',
  'service.busy', // 429, and waiting did not help in time
  'service.quota', // the day's transfers are spent
  'service.too-large', // 413
  'service.wrong-type', // 415: it takes another form of body, or another header
  'service.failing', // 5xx, or the breaker is open
  'service.element-refused', // the service refused one element of a batch
  'service.value-invalid', // the same, since it is no value of the definition
  'service.value-too-long',
  'service.token-invalid', // the same, since it is no token of the definition
  'service.empty-value', // it answered an element with an empty string, which the profile does not allow
  'service.blank-value', // the same with white space alone
  'service.nul-value', // it answered an element with a text that has a NUL, which no reader of files takes
  'service.long-value', // it answered an element with more characters than a value may have
  'service.same-answer', // different values got one and the same answer
  'service.broken-value', // it answered an element with half a character, which no file could hold
  'service.echoed-value', // it answered with what it was sent: cleartext for a token or mask, the token for cleartext
  'service.cancelled',
  // credentials
  'credentials.missing', // never stored
  'credentials.too-long',
  'keychain.locked',
  'keychain.unavailable', // no keyring on this machine
  'keychain.stalled', // the keyring does not answer
  'profile.member', // not a member of the answer, or not one that can be read so
  'examples.unreadable', // no description of a service's calls that is known; `subject` says what it is
  'examples.none', // none were read, or they were forgotten with the lock
  'profile.cleartext', // a member of this name is never read as a token or a mask
  'connection.none',
  'connection.unknown',
  'connection.invalid',
  'connection.half-removed', // the keychain failed on the way, and has not taken back what it had given away
  'connection.unsettled', // saved, and the keychain did not end to take back what trusted the record of before
  'connection.changed', // its record was changed outside of the app; a person has to look at it and save it
  'connection.environment', // not lowered while secrets are stored
  'connection.built-in', // the built-in connection can't be changed that way
  'connection.built-in-off', // the administrator does not allow it
  'connection.host', // not one of the hosts the administrator allows; `subject` is the host
  'export.too-large', // a file of connections that no import would take
  'import.invalid', // not a file of connections; `subject` says where
  'import.unknown', // something changed since the import was shown
  'provided.unreachable', // the administrator's signed file; `subject`: its name, and why it can't be read now
  'provided.unsigned', // the same: it has no signature that holds
  'provided.signer', // the same: none of those the administrator named has signed it; `subject` is who did
  'provided.older', // the same: it was issued before the one that was taken last; `subject` says when
  'provided.invalid', // the same: `subject` says where
  'certificate.invalid', // the extra CA is not a PEM certificate; with a subject, the client certificate does not open
  'certificate.slow', // its file asks for so many rounds that opening it takes too long
  'certificate.unsupported', // its file is encrypted in a way that is not read
  // the app
  'audit.unwritable', // nothing is sent that can't be recorded first
  'audit.broken', // the chain does not verify
  'app.locked',
  'app.busy', // this machine has so much to do that reading was not even begun
  'link.refused', // a tokendesk:// link that is not one of ours
  'unlock.wrong',
  'unlock.wait',
  'unlock.too-short',
  'unlock.passphrase-required', // the administrator asks for a passphrase, and none is set yet
  'unlock.unsure', // the keychain did not say whether the passphrase was changed
  'unlock.verifier-lost', // the keychain no longer has what the passphrase is checked with
  'reveal.reason-required',
  'reveal.reason-refused', // not one of the administrator's
  'reveal.throttled',
  'reveal.gone', // hidden meanwhile
  'reveal.shown', // it is on the screen, or about to be
  'wipe.batch-running', // it would be interrupted
  'wipe.unavailable', // the app can't start itself again here
  'settings.managed', // the administrator has fixed it; `subject` is its name
  'guess.reason-required', // many values of one mask would be tokenized, which tells a masked one
  'disclosure.limit', // as much was disclosed today as may be; `subject` is the count that is full
  'lookup.unknown',
  'story.no-token', // the cell has none
  'story.too-many', // of a batch: more tokens than are recorded of one
  'clipboard.unavailable',
  // files and rows
  'file.unknown',
  'file.gone',
  'file.changed',
  'file.unreadable',
  'file.folder',
  'file.empty',
  'file.too-many-columns',
  'file.delimiter', // subject: the encoding
  'file.exists',
  'file.unwritable',
  'file.disk-full',
  'file.no-room', // its encrypted copy would take more than half of what is free on the disk
  'file.refused', // dropped, and not one that may be opened so
  'file.paste-empty',
  'file.not-a-table', // another kind of file, which `subject` names
  'file.json-damaged', // an array of JSON that is not whole, or not of objects
  'file.record-length', // records without line ends do not fill it; `subject`: the bytes of one
  'file.archive-damaged', // cut, altered, or not what it begins as
  'file.archive-junk', // something stands behind its end
  'file.archive-empty', // no file is in it
  'file.archive-several', // more than one file is in it
  'file.archive-names', // names in it lead outside of its folder
  'file.archive-too-large', // unpacks to more than a table packs to
  'file.passphrase-needed',
  'file.passphrase-wrong',
  'file.pgp-key', // encrypted with OpenPGP, for keys none of which GnuPG has
  'file.pgp-locked', // GnuPG was not given the passphrase
  'file.workbook-damaged', // not what a workbook is: torn, or made to harm
  'file.workbook-sparse', // few cells, far apart: nearly all of the table would be empty
  'file.workbook-too-large', // unpacks to more than a workbook could hold
  'file.workbook-slow', // took longer to read than any workbook does
  'file.workbook-cell', // for an export: a value longer than a workbook's cell can be
  'file.workbook-full', // for an export: more rows, or more text, than a sheet holds
  'row.malformed', // more or fewer fields than the header
  'row.unclosed-quote',
  'row.field-too-long',
  'row.bad-encoding',
  'row.nul',
  'row.record-length', // a record of fixed width is shorter or longer than it should be
  'value.field-width', // a result that is too long for its field of fixed width, or would not be read from there as itself
  'value.unencodable', // for an export: its encoding has not all of the characters
  'value.no-text', // a number, true or false of JSON; not sent
  'value.marks-inside', // a text that has marks before a value in it is tokenized; not sent
  'value.spelled-inside', // a value in a text is written in other characters than its own, or runs into another, or the encoding has two ways to write the text; not sent
  'value.many-inside', // a text has more than 5,000 values in it; not sent
  'value.mark-broken', // the mark of a token in a text is cut or changed, or a result would make it so
  'value.case-missing', // its row has no case, or none that can be one, in the column of cases; not sent
  'value.case-value', // the case of its row has a line break or control character in it, or looks like a card number or another value; not sent
  'value.unfit', // does not fit the definition's kind; not sent
  'value.check-digit', // refused by the service, and its check digit is wrong
  'value.length', // refused by the service, and it has too few or too many digits
  'value.ssn-area', // refused by the service, and its area is never issued
  'value.ssn-zeros', // refused by the service, and its group or serial is all zeros
  // batches
  'plan.empty',
  'plan.column-unknown',
  'plan.column-packed', // a packed number of a record of fixed width, which is no text; `column`: its number
  'plan.case-column', // cases in a column without a name, one that is hidden, or one of which values are sent
  'plan.inside', // values inside texts, by an operation that has none, or by a definition that takes no such values, `definition`: its name; or marks that the encoding `subject` has not
  'plan.tokens-again', // what is to be tokenized was exported as tokens by this app; `column`: its number
  'plan.definition-unknown',
  'plan.policy-unknown',
  'plan.move-environment', // a move of values of production to what is not; `subject` is where to
  'plan.move-within', // a move to the connection that the values are of
  'pattern.forbidden', // the administrator does not allow batches to match
  'pattern.invalid',
  'pattern.unsupported', // lookaround, backreference
  'pattern.slow', // takes too long to compile or to try
  'pattern.too-many', // more than one typed expression for a definition
  'job.unknown',
  'job.busy', // does not fit the job's present state
  'job.elsewhere', // another process owns it
  'job.account-changed', // a move began with another address, account or environment of a connection; `subject` is which
  'job.source-gone', // the file its rows came from is no longer there
  'job.damaged', // its store can't be read
  'job.braked', // too many values in a row were refused: it paused by itself
  'job.sum', // counts do not agree; the job is not called done
  'queue.unknown',
  'queue.busy', // it does not fit its present state
  'queue.columns', // the file has other columns than the first; `subject` says which
  'queue.sheet', // the workbook has not the sheet that the first one was read from, which is `subject`, or has several
  'queue.twice', // the same file is there already
  'queue.folder', // a folder, not a file
  'queue.elsewhere', // another connection is in use than the one that it was begun with, which is `subject`
  'queue.too-many', // more files than are taken at once; `subject` is their limit
  'export.confirm', // bulk cleartext in production wants the row count typed
  'export.passphrase',
  'export.array-part', // part of an array of JSON would be no JSON
  'export.no-columns', // the source's own form has no place for a column that is added
  'mend.other-list', // not the list of failed rows of this batch
  'mend.too-many',
  'mend.twice',
  'mend.masked',
  'mend.not-failed',
  'mend.pending', // corrected, and not sent yet
  'inventory.none', // nothing was looked through yet
  'compare.none', // nothing was compared yet
  'compare.pasted', // rows that the window can write are not compared with others
  'compare.texts', // a column of texts with values inside is not compared
  'mend.outdated', // the batch changed after the list was compared
  'export.encoding', // the header has characters that the chosen encoding has not
  'export.encryption', // the file could not be encrypted; nothing of it is left
  'export.unencrypted', // the administrator allows cleartext in encrypted files only
  'export.cases-unknown', // without the source nobody knows under which cases the values would leave
  'export.no-cleartext', // the batch has none: its columns were masked or translated
  'export.forbidden', // the administrator allows no cleartext in files
  'export.cells-lost', // cells have characters that the encoding has not; `subject`: how many, and in how many rows
  'export.remaining-reason', // values stay in clear in cells that were copied, and the administrator wants a reason
  'export.remaining-forbidden', // the same, and the administrator allows no such file
  // a second person's approval
  'approval.needed', // the administrator wants a second person for this act, and no answer for exactly this waits
  'approval.none', // nothing was refused that could be asked for
  'approval.invalid', // not a request or an answer, or not in the form that the app writes
  'approval.unsigned', // it, or the request in it, was changed or has no signature that holds
  'approval.same-person', // who asks can't approve
  'approval.signer', // its key was not introduced; `subject` is the fingerprint
  'approval.declined', // `subject`: by whom
  'approval.expired',
  'approval.clock', // made in the future, as this computer's clock has it
  'approval.unknown', // to no request of this audit log, or the log was changed since
  'approval.used',
  'approval.other-act', // `subject`: the first member that is not as it was asked for
  'approval.spoken', // the characters that were read aloud are not those of the key
  'approval.too-many', // people; `subject` is their limit
  'approval.desk-unknown', // nobody of this name was set up at this desk, or the passphrase is another
  // reports
  'portal.sign-in', // nobody is signed in
  'portal.expired', // the sign-in has ended (401)
  'portal.credentials', // Authenticate refused: user or password wrong
  'portal.refused', // 403: not for this user or account
  'portal.not-a-token', // what was pasted is no JWT
  'portal.endless', // the JWT has no end, so it is not given to a client
  'portal.role', // 403 to an administrator's operation: the user has no such role
  'portal.name-taken', // another definition, policy or key has this name; `subject` is the name
  'portal.no-operation', // the service profile names no operation for this
  'portal.secret-gone', // a key or password that was made, and is no longer held
  'portal.account-missing', // the connection has no account or tenant ID
  'report.unknown', // asked for longer ago than is kept
  'report.too-many-rows',
  'report.more-pages', // the answer says that it is not all of the report
  'report.day-form', // days in a form that the service profile doesn't say; `subject` is the one it says
  'report.not-a-chart',
  'evidence.none', // the log has nothing on this case
  // the router
  'call.invalid',
  'call.refused',
  'call.leak', // the answer had a value that was seen in clear: it was held back
  'call.failed', // a bug of ours
] as const;

export type FailureCode = (typeof failureCodes)[number];

/** The same value under the same policy would be refused again. */
const permanent: readonly string[] = [
  'service.value-invalid',
  'service.value-too-long',
  'service.token-invalid',
  'service.invalid-input',
  'service.too-large',
  'service.refused',
] satisfies FailureCode[];

/** Whether a second try can help: where the service had trouble, or did not say why. */
export const isRetriable = (code: string): boolean =>
  !code.startsWith('row.') && !code.startsWith('value.') && !permanent.includes(code);

/** What crosses the bridge when something did not work: codes, names and numbers. Never a value, header or body. */
export const failureSchema = z.strictObject({
  code: z.enum(failureCodes),
  /** x-requestid of the answer, to quote when asking for support (spec §4). */
  requestId: z.string().max(200).optional(),
  status: z.int().optional(),
  operation: z.string().max(60).optional(),
  policy: z.string().max(200).optional(),
  definition: z.string().max(200).optional(),
  /** 400's Validation messages, by the field they name (spec §7). */
  fields: z
    .array(z.strictObject({ name: z.string().max(200), message: z.string().max(500) }))
    .max(20)
    .optional(),
  /** The service's own codes of a 400 (spec §7), as far as they look like codes. */
  codes: z.array(z.string().max(60)).max(5).optional(),
  /** Names of the members an unexpected answer had, never their values. */
  members: z.array(z.string().max(100)).max(40).optional(),
  /** How far this machine's clock is ahead of the service's, where it is more than a minute and may be the cause. */
  clockSkewMs: z.int().optional(),
  /** When trying again makes sense, in milliseconds from now. */
  retryAfterMs: z.int().nonnegative().optional(),
  /** Why there was no connection: the port of the service refused it, or its name is not known to this network. */
  cause: z.enum(['refused', 'unknown-name']).optional(),
  row: z.int().positive().optional(),
  column: z.string().max(200).optional(),
  /** A host name, file name or limit that makes the sentence concrete; never a value from a row. */
  subject: z.string().max(300).optional(),
});

export type Failure = z.infer<typeof failureSchema>;

/** Expected outcomes are values. A throw means a bug or an outage of the app itself. */
export type Outcome<T> = { ok: true; value: T } | { ok: false; failure: Failure };

export function done<T>(value: T): { ok: true; value: T } {
  return { ok: true, value };
}

export function failed(
  code: FailureCode,
  details: Omit<Failure, 'code'> = {},
): { ok: false; failure: Failure } {
  return { ok: false, failure: { code, ...details } };
}
