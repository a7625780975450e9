import { z } from 'zod';
import { failureCodes, failureSchema, type Outcome } from './errors.ts';
import {
  administrationChange,
  administrationState,
  definitionDraft,
  policyGrant,
  portalConfiguration,
} from './models/administration.ts';
import { approvalAct, approvalKey, openedApproval, shownRequest } from './models/approval.ts';
import { disclosureFigures } from './models/disclosures.ts';
import { activityQuery, auditEntry, auditPage } from './models/activity.ts';
import { about, appCommand, appState, lockState, lockedAppState, settings } from './models/app.ts';
import {
  canaryCell,
  changedCell,
  damagedJob,
  exportChoice,
  exported,
  listComparison,
  mendResult,
  job,
  jobsPerPage,
  notice,
  opened,
  plan,
  preflight,
  policyChange,
  preview,
  reading,
  remaining,
  batchesOfCase,
  source,
  sourceRows,
  takenChanges,
} from './models/batch.ts';
import { comparedRows, comparedRowsQuery, comparedSide, comparison } from './models/compared.ts';
import { droppedForInventory, inventory, inventoryForm, inventorySource } from './models/inventory.ts';
import { mapping } from './models/mapping.ts';
import { story, storyQuery } from './models/story.ts';
import { openedFiles, queue, queueExportChoice, queueExported } from './models/queue.ts';
import { maxComparedFiles } from './compared-limits.ts';
import { maxFiles } from './queue-limits.ts';
import { columnProfile, foundCell, rowsPage, someColumns, rowsQuery, tableLayout } from './models/rows.ts';
import {
  clientCertificate,
  connectionDraft,
  memberPath,
  policyGrants,
  profileView,
  secretName,
  unreadAnswer,
} from './models/connection.ts';
import { importPlan } from './models/deployment.ts';
import { profileDifferences, profileDraft, profileEdits, profileTrial } from './models/profile-draft.ts';
import {
  obscuredExamples,
  obscuredPassphrase,
  obscuredText,
  obscuredToken,
  obscuredValue,
  caseReference,
  count,
  id,
  name,
  value,
  fileName,
} from './models/fields.ts';
import {
  copied,
  lookup,
  maskInput,
  reveal,
  grounds,
  revealInput,
  tokenizeInput,
  translateInput,
} from './models/lookup.ts';
import {
  access,
  configurationForm,
  usage,
  evidence,
  failedRequests,
  metrics,
  metricsQuery,
  portalSession,
  reportFile,
  toolServer,
  workstation,
} from './models/report.ts';

type Files = 'none' | 'one' | 'several';

interface Options<F extends Files> {
  /** What may be answered while the app is locked; a call without it is refused with `app.locked`. */
  whileLocked?: z.ZodType;
  /** The window hands over a File, or several; the preload turns each into a reference only main can resolve. */
  files?: F;
}

function call<I extends z.ZodType, O extends z.ZodType, F extends Files = 'none'>(
  input: I,
  output: O,
  options: Options<F> = {},
) {
  return {
    input,
    output,
    whileLocked: options.whileLocked ?? null,
    files: (options.files ?? 'none') as F,
  };
}

const nothing = z.strictObject({});
const ofJob = z.strictObject({ jobId: id });
const ofQueue = z.strictObject({ queueId: id });
/** What sends values again: asked for where an expression of the job tells more than the mask. */
const askedAgain = { grounds: grounds.nullable().optional() };
/** Names are the service's: what it lists is sent back as it came. */
const portalName = z.string().min(1).max(200);
const keyDraft = z.strictObject({ title: z.string().trim().min(1).max(100), expires: z.iso.date() });

const plannedRows = z.strictObject({
  sourceId: id,
  plan,
  grounds: grounds.nullable(),
  /** A person said that tokens which the app exported itself are to be tokenized again. */
  mayBeTokens: z.boolean().optional(),
});

/** `mapping`: the saved one that made the plan. `takesUp`: a command's, by which it finds its batch again. */
const ofRun = { mapping: name.optional(), takesUp: z.boolean().optional() };

/**
 * Every call the window can make, once. The preload's functions, the window's types, main's handlers and the tests'
 * fake main are all derived from this literal.
 *
 * In: parsed strictly, unknown members are refused. Out: parsed too, so that nothing leaves that is not listed here.
 * Secrets go in through `connections.storeSecret`, `connections.rotateKey`, `connections.chooseCertificate`,
 * `reports.signIn`, `reports.useToken`, `administration.signIn`, `administration.signInBuiltIn`,
 * `administration.savePolicy` and `lock.*`, and never come out. What the service answers in cleartext comes out through
 * `lookup.reveal` and `batch.reveal` only, obscured. The person's own file is shown by `batch.preview`, `batch.try` and
 * `batch.rows`: what main takes for cleartext in it is masked, whatever the window asks for.
 */
export const calls = {
  'app.state': call(nothing, z.union([appState, lockedAppState]), { whileLocked: lockedAppState }),
  'app.about': call(nothing, about),
  /** What this person had shown, copied, exported and matched in clear today. */
  'app.disclosures': call(nothing, disclosureFigures),
  /**
   * Ends the app to remove everything of this person from this computer; what is started then asks the person first.
   * Failures: wipe.batch-running, wipe.unavailable, audit.*.
   */
  'app.wipe': call(nothing, nothing),
  /** Opens the folder of the local log. Where the platform can't, `place` is its path, to be shown. */
  'app.openLogFolder': call(nothing, z.strictObject({ place: z.string().max(4_096).nullable() })),
  /** What the system asked to open and nobody took yet: a file, or the case or token of a link. Nothing is sent. */
  'app.takeOpened': call(nothing, opened.nullable()),
  /** A text for whoever helps; it names no host, user, value, secret or file. */
  'app.diagnostics': call(nothing, z.strictObject({ text: z.string().max(400_000) })),
  /** Writes the text that was shown last; null when the person changed their mind. */
  'app.saveDiagnostics': call(nothing, z.strictObject({ name: fileName }).nullable()),

  'connections.save': call(connectionDraft, z.strictObject({ id })),
  /** At once, with its secrets. Main has what puts it back for a short time, in memory; not after a lock. */
  'connections.remove': call(z.strictObject({ id }), nothing),
  /** Of the one that was removed last. Failures: connection.unknown where the time is over. */
  'connections.undoRemove': call(z.strictObject({ id }), nothing),
  'connections.choose': call(z.strictObject({ id, policy: name }), nothing),
  'connections.storeSecret': call(z.strictObject({ id, secret: secretName, value: obscuredText }), nothing),
  /**
   * A new API key beside the one in use: it takes over once it has opened a session, and is stored until it does or is
   * dropped. Failures: those of `connections.test` and of storing it; the key in use stays then.
   */
  'connections.rotateKey': call(
    z.strictObject({ id, value: obscuredText, expires: z.iso.date().nullable() }),
    nothing,
  ),
  /** Tries the stored next key again. */
  'connections.tryNextKey': call(z.strictObject({ id }), nothing),
  'connections.forgetNextKey': call(z.strictObject({ id }), nothing),
  /** Asks for a PKCS #12 file of at most 1 MiB that the passphrase opens; null when the person changed their mind. */
  'connections.chooseCertificate': call(
    z.strictObject({ id, passphrase: obscuredText }),
    clientCertificate.nullable(),
  ),
  'connections.forgetCertificate': call(z.strictObject({ id }), nothing),
  /**
   * Asks for a service profile of at most 256 KiB and stores it with the connection; null when the person changed their
   * mind. Failures: connection.invalid (`subject` is the place that is not valid), connection.built-in, file.unreadable.
   */
  'connections.importProfile': call(z.strictObject({ id }), profileView.nullable()),
  /** Takes the imported profile, or what was fitted, away. */
  'connections.removeProfile': call(
    z.strictObject({ id, part: z.enum(['imported', 'fitted']) }),
    profileView,
  ),
  /** Answers that the profile could not read, the latest of each operation: names of members, no values. */
  'connections.unreadAnswers': call(z.strictObject({ id }), z.array(unreadAnswer).max(20)),
  /**
   * Says which member of such an answer is what; stored with the connection and tried at once by
   * signing in with its first policy: `test` is why that failed. Failures: profile.*, connection.*.
   */
  'connections.fitProfile': call(
    z.strictObject({
      id,
      operation: unreadAnswer.shape.operation,
      /** Null where the elements of PatternMatch's answer hold no value. */
      answer: memberPath.nullable(),
      /** The RefId of a batch answer's elements. */
      ref: memberPath.nullable(),
    }),
    z.strictObject({ profile: profileView, test: failureSchema.nullable() }),
  ),
  /**
   * Reads a service's calls as they were written down, and proposes a profile: an OpenAPI 3 document, an exported
   * collection, curl lines, requests with their answers. They are added to those read before, and held in main until the
   * app locks. Failures: examples.unreadable, app.busy, connection.built-in.
   */
  'connections.readExamples': call(
    z.strictObject({ id, text: obscuredExamples, edits: profileEdits }),
    profileDraft,
  ),
  /** The same with a file of at most 4 MiB; null when the person changed their mind. */
  'connections.chooseExamples': call(z.strictObject({ id, edits: profileEdits }), profileDraft.nullable()),
  'connections.forgetExamples': call(z.strictObject({ id }), nothing),
  /** The profile with what was set by hand; stores nothing. */
  'connections.draftProfile': call(z.strictObject({ id, edits: profileEdits }), profileDraft),
  /**
   * Stores the draft in the place of the connection's profile; null when the person did not agree. Failures:
   * connection.invalid, settings.managed.
   */
  'connections.saveProfile': call(z.strictObject({ id, edits: profileEdits }), profileView.nullable()),
  /**
   * Tries all operations of a draft with one value. What went over the wire comes back with secrets obscured and values
   * masked. Failures: connection.invalid, those of making a client; a step says itself what came of it.
   */
  'connections.tryProfile': call(
    z.strictObject({ id, edits: profileEdits, policy: name, definition: name, value: obscuredValue }),
    profileTrial,
  ),
  /** Writes the draft as a profile file; null when the person changed their mind. */
  'connections.exportProfile': call(
    z.strictObject({ id, edits: profileEdits }),
    z.strictObject({ name: fileName }).nullable(),
  ),
  /** Says in what the draft differs from a profile file; null when the person changed their mind. */
  'connections.compareProfile': call(
    z.strictObject({ id, edits: profileEdits }),
    profileDifferences.nullable(),
  ),
  /** Asks the service for a session at once: whether it answers, where it did not a moment ago. */
  'connections.tryNow': call(z.strictObject({ id, policy: name }), nothing),
  /**
   * Opens a session with the policy and asks for every operation on every definition, with an empty value each time:
   * what is refused is told from what is not. The answer is stored. Sends one request for each operation on each
   * definition, none of which holds a value. Failures: those of a session, and
   * whatever else kept a request from being answered.
   */
  'connections.test': call(z.strictObject({ id, policy: name }), policyGrants),
  /** Writes connections without their secrets, mappings and reasons; null when the person changed their mind. */
  'connections.export': call(nothing, z.strictObject({ name: fileName, leftOut: count }).nullable()),
  /** Asks for such a file and answers what it would change; null when the person changed their mind. */
  'connections.chooseImport': call(nothing, importPlan.nullable()),
  /** Does what was shown, and nothing where anything changed since. Refused items are left out. */
  'connections.applyImport': call(z.strictObject({ importId: id }), z.strictObject({ count })),
  /** Starts the built-in service and makes its connection the active one. */
  'connections.startBuiltIn': call(nothing, z.strictObject({ id })),

  'lookup.mask': call(maskInput, lookup),
  'lookup.tokenize': call(tokenizeInput, lookup),
  'lookup.translate': call(translateInput, lookup),
  /** The answer carries the lookup as it is listed from now on. */
  'lookup.reveal': call(revealInput.extend({ lookupId: id }), reveal.extend({ lookup })),
  'lookup.hide': call(z.strictObject({ revealId: id }), nothing),
  /** The answer to `reveal.ended`: the value is no longer on the screen. Without it the renderer is ended. */
  'lookup.hidden': call(z.strictObject({ revealId: id }), nothing, { whileLocked: nothing }),
  'lookup.copy': call(
    z.discriminatedUnion('what', [
      z.strictObject({ what: z.literal('masked'), lookupId: id }),
      z.strictObject({ what: z.literal('token'), lookupId: id }),
      grounds.extend({ what: z.literal('cleartext'), lookupId: id }),
    ]),
    copied,
  ),
  /** Empties the clipboard at once, if it still has what was copied here. */
  'lookup.clearClipboard': call(nothing, nothing),
  /** A token to try the app with, made by the built-in service. Failure elsewhere: connection.built-in. */
  'lookup.sample': call(nothing, z.strictObject({ definition: name, token: value })),
  'lookup.recent': call(nothing, z.array(lookup)),
  /** Drops the lookups filed under a case, or all of them. */
  'lookup.forget': call(z.strictObject({ caseReference: caseReference.nullable() }), nothing),

  /** Asks for a file; null when the person changed their mind. */
  'batch.choose': call(nothing, source.nullable()),
  'batch.drop': call(z.strictObject({ reference: z.string().max(4_096) }), source, { files: 'one' }),
  /** Asks for files, one or several; null when the person changed their mind. Those of one kind become a draft of a queue. */
  'batch.chooseFiles': call(
    /** `together`: one file is a draft of a queue too, which has one report. */
    z.strictObject({ together: z.boolean().optional() }),
    openedFiles.nullable(),
  ),
  /** The same with all files of a folder. Failures: file.*, queue.too-many. */
  'batch.chooseFolder': call(nothing, openedFiles.nullable()),
  'batch.dropFiles': call(
    z.strictObject({ references: z.array(z.string().max(4_096)).min(1).max(maxFiles) }),
    openedFiles,
    { files: 'several' },
  ),
  /** Queues and drafts of them; `batch.queue` events say what changes. */
  'batch.queues': call(nothing, z.array(queue)),
  /**
   * Looks which files of a draft are of one kind with the first, read like this. Answers at once; `batch.queue` events follow
   * until all are compared. Sends nothing.
   */
  'batch.compareQueue': call(ofQueue.extend({ sourceId: id, reading }), nothing),
  /** Begins with the first file as `batch.start` does; the others follow, each as a batch of its own. */
  'batch.startQueue': call(ofQueue.extend({ ...plannedRows.shape, mapping: name.optional() }), ofJob),
  /** About a file that the queue stopped at: it is run all the same, or left out. A batch that is paused is left as it is. */
  'batch.decideQueued': call(
    ofQueue.extend({ fileId: id, decision: z.enum(['run', 'skip']), ...askedAgain }),
    nothing,
  ),
  /** Pauses the batch that runs and begins no other. */
  'batch.pauseQueue': call(ofQueue, nothing),
  'batch.resumeQueue': call(ofQueue.extend(askedAgain), nothing),
  /** Takes a queue that does not run off the list. Its batches stay. */
  'batch.removeQueue': call(ofQueue, nothing),
  /** Opens one of its files by itself. */
  'batch.openQueued': call(ofQueue.extend({ fileId: id }), source),
  /**
   * Writes the results of these files into one folder that the person chooses, none over a file that is there; null when they
   * changed their mind. Each is an export like any other, with its line in the log. `batch.exporting` events say how far the
   * file is that is being written, and `batch.stopExport` of its batch ends all.
   */
  'batch.exportQueue': call(queueExportChoice, queueExported.nullable()),
  /**
   * Writes one report of all files of a queue where the person chooses: of each file and in sum its rows, what was done,
   * failed and blank, and what is left of the old tokens where they were translated. It holds no value. As JSON it is signed
   * with this workstation's key. Null when the person changed their mind. Failures: queue.*, job.sum, file.*, audit.*.
   */
  'batch.reportQueue': call(
    ofQueue.extend({ form: z.enum(['csv', 'html', 'json']) }),
    z.strictObject({ name: fileName }).nullable(),
  ),
  'batch.paste': call(z.strictObject({ text: z.string().min(1).max(8_000_000) }), source),
  'batch.sample': call(nothing, source),
  /** The same workbook by another of its sheets: a source of its own. */
  'batch.sheet': call(z.strictObject({ sourceId: id, sheet: z.string().max(100) }), source),
  /**
   * Opens the file whose opening failed with file.passphrase-needed or file.passphrase-wrong last: main has its path.
   * Failure: file.unknown where there is none.
   */
  'batch.openEncrypted': call(z.strictObject({ passphrase: obscuredPassphrase }), source),
  /** Ends the opening that `batch.opening` events report; it answers with `service.cancelled`. */
  'batch.stopOpening': call(nothing, nothing),
  'batch.preview': call(
    z.strictObject({
      sourceId: id,
      /** What the person overrode; the rest is detected. */
      reading: reading.partial(),
      /** Columns to show with local masks besides those that main hides by what they hold; null adds none. */
      masked: z.array(count).max(1_000).nullable(),
    }),
    preview,
  ),
  /** The first rows that a notice is about, at most 50, masked as in the preview. Sends nothing. */
  'batch.noticedRows': call(
    z.strictObject({
      sourceId: id,
      reading: reading.partial(),
      masked: z.array(count).max(1_000).nullable(),
      /** Says which values should fit what. */
      plan: plan.nullable(),
      /** The column is '' where the notice has none. */
      notice: notice.omit({ count: true }).extend({ column: z.string().max(300) }),
    }),
    sourceRows,
  ),
  /** Reads the whole file without sending anything. Answers at once; `batch.preflight` events follow until done. */
  'batch.preflight': call(z.strictObject({ sourceId: id, plan }), preflight),
  /**
   * Tries an expression on made-up samples, and on one of the person's own, which comes obscured since it may be a real
   * value. Nothing is sent. `matches` is null where the service alone knows the expression's dialect. Failures:
   * pattern.invalid, pattern.unsupported.
   */
  'batch.testPattern': call(
    z.strictObject({
      pattern: z.string().min(1).max(1_000),
      samples: z.array(z.string().max(300)).max(20),
      own: obscuredText.nullable(),
    }),
    z.strictObject({ matches: z.array(z.boolean()).max(20).nullable(), own: z.boolean().nullable() }),
  ),
  /**
   * Runs the first 20 rows against the service and stores nothing. An expression that tells more than the mask needs a
   * reason, here and in `batch.start`. Failures of both for such a plan: reveal.reason-required, pattern.too-many,
   * disclosure.limit; of `batch.start` in production also export.confirm.
   */
  'batch.try': call(plannedRows, rowsPage),
  'batch.start': call(plannedRows.extend(ofRun), ofJob),
  /**
   * The batch that such a start began before: the same file with the same bytes, plan, mapping and connection. Null where
   * there is none. Failures: those of `batch.start`, but for the gate's.
   */
  'batch.takeUp': call(
    plannedRows.pick({ sourceId: true, plan: true }).extend({ mapping: name }),
    job.nullable(),
  ),
  'batch.pause': call(ofJob, nothing),
  'batch.resume': call(ofJob.extend(askedAgain), nothing),
  'batch.cancel': call(ofJob, nothing),
  /**
   * Runs again the values that failed in a way a retry may mend; merged into the same job in source order. With a code,
   * only those that failed with it.
   */
  'batch.retry': call(ofJob.extend({ code: z.enum(failureCodes).nullable(), ...askedAgain }), nothing),
  /** The values that the run sent first. None once the app was started again. */
  'batch.canary': call(ofJob, z.array(canaryCell).max(200)),
  /**
   * Runs the values again that the service refused, under other policies, and then the rest; results stay. For a job
   * that does not run. Failures: plan.policy-unknown, plan.column-unknown, and those of `batch.resume`.
   */
  'batch.changePolicy': call(
    ofJob.extend({ changes: z.array(policyChange).min(1).max(20), ...askedAgain }),
    nothing,
  ),
  /**
   * Compares a list of failed rows that a person corrected with the job: it was opened as a source. Sends and changes
   * nothing; `batch.comparing` events say how far it is. Another comparison ends it with `service.cancelled`.
   */
  'batch.compare': call(ofJob.extend({ sourceId: id }), listComparison),
  /** Ends the comparison that is under way, or drops the one that was made. */
  'batch.dropComparison': call(ofJob, nothing),
  /** Some of the cells that the list which was compared last has otherwise. Failure: mend.outdated. */
  'batch.changes': call(
    ofJob.extend({ from: count, count: z.int().min(1).max(200) }),
    z.strictObject({ from: count, cells: z.array(changedCell).max(200) }),
  ),
  /**
   * Takes in what was compared last, as far as a person takes it: its rows are sent, and stand in place of the source's
   * from then on. Where it fails nothing is changed.
   */
  'batch.mend': call(ofJob.extend({ taken: takenChanges, ...askedAgain }), mendResult),
  /**
   * Opens the rows of a job once more, to be run again: the file as it is now, or the copy of pasted rows and sheets.
   * Failures: job.*, file.*, keychain.*.
   */
  'batch.reopen': call(ofJob, source),
  /** Removes a job and everything stored for it. */
  'batch.discard': call(ofJob, nothing),
  /** The newest `jobsPerPage` jobs, or of those that come behind `after` in this order. Empty at the end. */
  'batch.jobs': call(
    z.strictObject({ after: job.pick({ jobId: true, startedAt: true }).optional() }),
    z.array(job).max(jobsPerPage),
  ),
  /** Stored jobs that can't be read; `batch.discard` takes their IDs too. */
  'batch.damaged': call(nothing, z.array(damagedJob)),
  /**
   * The first page of a view that filters or sorts takes a look at all rows: `batch.viewing` events say how far it is.
   * Another view of the same job ends it with `service.cancelled`. `columns`: a row then has the cells of these alone, as
   * far as it has such fields.
   */
  'batch.rows': call(
    rowsQuery.extend({ from: count, count: z.int().min(1).max(500), columns: someColumns.optional() }),
    rowsPage,
  ),
  /**
   * The next row after position `after` (-1: from the beginning) in which some cell contains the text, or with
   * `backwards` the one before; goes round at the end. Null: there is none. Searches what the window may see.
   */
  'batch.find': call(
    rowsQuery.extend({ text: z.string().min(1).max(200), after: z.int().min(-1), backwards: z.boolean() }),
    foundCell.nullable(),
  ),
  /** Ends the look at all rows of a job that is under way: its filter, sort, search or profile answers with `service.cancelled`. */
  'batch.stopViewing': call(ofJob, nothing),
  /** Puts cells on the clipboard as the window sees them, with tabs between; formulas are neutralised. */
  'batch.copy': call(
    rowsQuery.extend({
      from: count,
      count: z.int().min(1).max(10_000),
      columns: z.array(count).min(1).max(1_100),
    }),
    copied,
  ),
  /** Looks at all rows of a job; another profile of it ends this one with `service.cancelled`. */
  'batch.profile': call(ofJob.extend({ column: count }), columnProfile),
  /**
   * The batches that have rows of a case, where each row has its own. Reads their columns of cases; another look ends this one
   * with `service.cancelled`.
   */
  'batch.ofCase': call(z.strictObject({ caseReference: caseReference.min(1) }), batchesOfCase),
  'batch.layout': call(ofJob, tableLayout),
  'batch.saveLayout': call(ofJob.extend({ layout: tableLayout }), nothing),
  'batch.reveal': call(revealInput.extend({ jobId: id, row: z.int().positive(), column: count }), reveal),
  /**
   * What would stay in clear in such an export, by a look at all its rows; null for one in clear. Another look at the same
   * job ends this one with `service.cancelled`. Failures: job.*, file.*.
   */
  'batch.checkExport': call(
    exportChoice.pick({ jobId: true, content: true, rows: true, shown: true }),
    remaining.nullable(),
  ),
  /**
   * Writes the file where the person says; null when they changed their mind. `batch.exporting` events say how far it is.
   */
  'batch.export': call(exportChoice, exported.nullable()),
  /** Ends an export that is being written: it leaves no file and answers with `service.cancelled`. */
  'batch.stopExport': call(z.strictObject({ jobId: id }), nothing),
  /** Shows an exported file in the system's file manager; false where that can't be done. */
  'batch.showExport': call(z.strictObject({ exportId: id }), z.strictObject({ shown: z.boolean() })),
  /**
   * Says which values are in which files, and writes each row's group where the person says, with `write`; null when they
   * changed their mind. `compare.progress` events say how far it is. Another comparison ends this one. Failures: compare.pasted, plan.column-unknown, job.busy,
   * service.cancelled, file.*.
   */
  'compare.files': call(
    z.strictObject({ sides: z.array(comparedSide).min(2).max(maxComparedFiles), write: z.boolean() }),
    comparison.nullable(),
  ),
  'compare.stop': call(nothing, nothing),
  /** Which file has which row of the comparison that was made last, and nothing of what is in it. Failure: compare.none. */
  'compare.rows': call(comparedRowsQuery, comparedRows),
  /** Writes all rows of it with their groups; null when the person changed their mind. Failures: compare.none, file.*. */
  'compare.save': call(nothing, z.strictObject({ name: fileName }).nullable()),
  /**
   * Counts what files hold, before anything is sent; null when the person chose none. `inventory.progress` events say how far
   * it is. Another look ends this one. Failures: service.cancelled, file.empty where a folder has no file; of an open source
   * file.*, plan.*. A file that was chosen or dropped has its failure in its own counts.
   */
  'inventory.look': call(z.strictObject({ source: inventorySource }), inventory.nullable()),
  /** The same of what was dropped. A folder is asked for in a dialog at it: its path could be any. Failure: file.refused. */
  'inventory.drop': call(droppedForInventory, inventory.nullable(), { files: 'several' }),
  /** Writes what was counted last where the person says; null when they changed their mind. Failures: inventory.none, file.*. */
  'inventory.save': call(
    z.strictObject({ form: inventoryForm }),
    z.strictObject({ name: fileName }).nullable(),
  ),
  'inventory.stop': call(nothing, nothing),

  /**
   * Every act on this workstation that touched a token: lines of the log, batches that have it in a row, and their exports.
   * Writes a line of its own. `story.progress` events say how far it is; another one, and `story.stop`, end it with
   * `service.cancelled`. Failures: story.no-token, lookup.unknown, settings.managed, audit.unwritable, keychain.*.
   */
  'story.look': call(storyQuery, story),
  /** Writes the story that was looked at last as CSV, without a token or a value; null when the person changed their mind. */
  'story.save': call(nothing, z.strictObject({ name: fileName }).nullable()),
  'story.stop': call(nothing, nothing),

  /** SHA-256 of the bytes of a source's file, or of its rows where they are in no file of their own. Failures: file.*. */
  'batch.hash': call(z.strictObject({ sourceId: id }), z.strictObject({ bytes: count, sha256: z.string() })),

  /** The person's own key, who may approve, and whose keys lie at this desk. Failures: keychain.*. */
  'approval.people': call(
    nothing,
    z.strictObject({
      fingerprint: approvalKey.shape.fingerprint,
      approvers: z.array(approvalKey).max(200),
      byHand: z.boolean(),
      desk: z.array(approvalKey).max(20),
    }),
  ),
  /**
   * `spoken`: the first characters of the fingerprint as the other person read them aloud. Failures: approval.spoken,
   * approval.same-person, approval.too-many, settings.managed, keychain.*.
   */
  'approval.introduce': call(approvalKey.extend({ spoken: z.string().max(100) }), nothing),
  'approval.removePerson': call(approvalKey.pick({ fingerprint: true }), nothing),
  /** Makes a key under a passphrase of the second person. Failures: approval.*, unlock.too-short, keychain.*. */
  'approval.addToDesk': call(
    approvalKey.pick({ name: true }).extend({ passphrase: obscuredPassphrase }),
    approvalKey,
  ),
  /**
   * Writes a request for what was refused last, which has to be what the window shows; null when the person changed their
   * mind. Failures: approval.none, approval.other-act, audit.*, file.*.
   */
  'approval.writeRequest': call(
    z.strictObject({ act: approvalAct }),
    z.strictObject({ name: fileName }).nullable(),
  ),
  /** The same as a link, on the clipboard. */
  'approval.copyLink': call(z.strictObject({ act: approvalAct }), copied),
  /** Asks for what the window shows, and answers, at one desk. Failures: approval.*, unlock.wrong, unlock.wait, audit.*. */
  'approval.atDesk': call(
    approvalKey.pick({ name: true }).extend({
      act: approvalAct,
      passphrase: obscuredPassphrase,
      decision: z.enum(['approved', 'declined']),
    }),
    nothing,
  ),
  /** Asks for a file: a request to be looked at, or an answer, which then waits for its act. Failures: approval.*, audit.*, file.*. */
  'approval.choose': call(nothing, openedApproval.nullable()),
  'approval.drop': call(z.strictObject({ reference: z.string().max(4_096) }), openedApproval, {
    files: 'one',
  }),
  /**
   * Answers the request that was opened last, which has to be the one that the window shows, in a file; null when the person
   * changed their mind. The passphrase is asked for where one is set. Failures: approval.*, unlock.*, audit.*, file.*.
   */
  'approval.answer': call(
    z.strictObject({
      request: shownRequest.shape.request,
      decision: z.enum(['approved', 'declined']),
      passphrase: obscuredPassphrase,
    }),
    z.strictObject({ name: fileName }).nullable(),
  ),
  'approval.close': call(nothing, nothing),
  /** Forgets what was refused last. */
  'approval.dismiss': call(nothing, nothing),

  'batch.mappings': call(nothing, z.array(mapping)),
  'batch.saveMapping': call(mapping.omit({ id: true }), z.strictObject({ id })),
  'batch.removeMapping': call(z.strictObject({ id }), nothing),

  'activity.list': call(activityQuery, auditPage),
  /** The newest entry of each case that something was done for lately, the newest first. */
  'activity.cases': call(z.strictObject({ limit: z.int().min(1).max(100) }), z.array(auditEntry)),

  /** State of the portal sign-in of the active connection; sends nothing. */
  'reports.portal': call(nothing, portalSession),
  /** Through the portal's Authenticate; the password is not stored. */
  'reports.signIn': call(
    z.strictObject({ user: z.string().trim().min(1).max(200), password: obscuredText }),
    portalSession,
  ),
  /** The same for the built-in service, whose password only main knows. */
  'reports.signInBuiltIn': call(nothing, portalSession),
  /** A portal JWT obtained elsewhere. */
  'reports.useToken': call(z.strictObject({ token: obscuredToken }), portalSession),
  'reports.signOut': call(nothing, portalSession),
  'reports.metrics': call(metricsQuery, metrics),
  'reports.failures': call(z.strictObject({ max: z.int().min(1).max(100) }), failedRequests),
  'reports.workstation': call(metricsQuery, workstation),
  /** Cleartext access of one month, from the audit log. */
  'reports.access': call(z.strictObject({ month: z.string().regex(/^\d{4}-(?:0[1-9]|1[0-2])$/) }), access),
  /** Today's transfers of the active connection; sends nothing. */
  'reports.usage': call(nothing, usage),
  'reports.toolServer': call(nothing, toolServer),
  /**
   * What is copied holds no value: a failed request's names and numbers, the authorities of the connection, or the
   * configuration of a client. That has the JWT of the sign-in where it is asked for, which goes to the clipboard alone.
   */
  'reports.copy': call(
    z.discriminatedUnion('what', [
      z.strictObject({ what: z.literal('support'), reportId: id, index: count }),
      z.strictObject({ what: z.literal('authorities') }),
      z.strictObject({
        what: z.literal('configuration'),
        form: configurationForm,
        transport: toolServer.shape.transport,
        withToken: z.boolean(),
      }),
    ]),
    copied,
  ),
  /** Writes an answer that was given as CSV, safe for spreadsheets; null when the person changed their mind. */
  'reports.export': call(z.strictObject({ reportId: id }), reportFile.nullable()),
  /** Writes the chart the window drew: PNG bytes in base64, three megabytes of them at most. */
  'reports.exportChart': call(
    z.strictObject({ reportId: id, png: z.base64().min(1).max(4_000_000) }),
    reportFile.nullable(),
  ),
  /** What the audit log has on one case, with its proof: a JSON file, and an HTML page of the same. */
  'reports.evidence': call(z.strictObject({ caseReference: caseReference.min(1) }), evidence.nullable()),
  /** Shows it in the system's file manager; false where that can't be done. */
  'reports.showEvidence': call(z.strictObject({ evidenceId: id }), z.strictObject({ shown: z.boolean() })),

  /** How the administrator's sign-in of the active connection stands; sends nothing. */
  'administration.state': call(nothing, administrationState),
  /** Through the portal's Authenticate. The JWT stays in main's memory, until the app locks. */
  'administration.signIn': call(
    z.strictObject({ user: z.string().trim().min(1).max(200), password: obscuredText }),
    administrationState,
  ),
  /** The same for the built-in service, whose password only main knows: the app's own passphrase is checked where set. */
  'administration.signInBuiltIn': call(
    z.strictObject({ passphrase: obscuredPassphrase }),
    administrationState,
  ),
  'administration.signOut': call(nothing, administrationState),
  /** Everything the portal lists. Failures here and below: portal.*, service.*. */
  'administration.load': call(nothing, portalConfiguration),
  /** Token and mask of the kind's made-up value, by the service; nothing is created. */
  'administration.previewDefinition': call(
    definitionDraft,
    z.strictObject({ token: z.string().max(500), mask: z.string().max(500) }),
  ),
  'administration.saveDefinition': call(
    z.strictObject({ create: z.boolean(), definition: definitionDraft }),
    administrationChange,
  ),
  /**
   * Without a password the policy keeps its own. `makePassword` has one made in main. `use`: the connection gets the
   * policy and its password.
   */
  'administration.savePolicy': call(
    z.strictObject({
      create: z.boolean(),
      name: portalName,
      password: obscuredText.nullable(),
      makePassword: z.boolean(),
      use: z.boolean(),
      grants: z.array(policyGrant).max(500),
    }),
    administrationChange,
  ),
  'administration.revokePolicy': call(z.strictObject({ name: portalName }), administrationChange),
  'administration.createKey': call(keyDraft, administrationChange),
  /** Makes the successor of a key; the old one stays usable. */
  'administration.rotateKey': call(keyDraft, administrationChange),
  'administration.revokeKey': call(z.strictObject({ title: portalName }), administrationChange),
  'administration.setToolServer': call(z.strictObject({ enabled: z.boolean() }), administrationChange),
  /** Puts a key or password that was just made on the clipboard, which is cleared after a while. */
  'administration.copySecret': call(z.strictObject({ secretId: id }), copied),
  /** The key that was just made takes over in the active connection, as by `connections.rotateKey`. */
  'administration.useKey': call(z.strictObject({ secretId: id }), nothing),

  'settings.save': call(settings, settings),

  'lock.now': call(nothing, lockState, { whileLocked: lockState }),
  'lock.unlock': call(z.strictObject({ passphrase: obscuredPassphrase }), lockState, {
    whileLocked: lockState,
  }),
  /**
   * Where the passphrase is lost, or its verifier: forgets all secrets and unlocks. Asks in a dialog of the system where the
   * verifier is there; the lock's state is the same as before where the person changed their mind.
   */
  'lock.reset': call(nothing, lockState, { whileLocked: lockState }),
  /** An empty passphrase removes it. The current one is asked for when one is set. */
  'lock.setPassphrase': call(
    z.strictObject({ current: obscuredPassphrase, next: obscuredPassphrase }),
    lockState,
  ),
  /** The window saw a key or the pointer; main counts the idle time. */
  'lock.active': call(nothing, nothing, { whileLocked: nothing }),
} as const;

type Calls = typeof calls;
export type CallName = keyof Calls;
export type CallInput<N extends CallName> = z.infer<Calls[N]['input']>;
export type CallOutput<N extends CallName> = z.infer<Calls[N]['output']>;
/** `lookup` in `lookup.mask`. */
type CallGroup = CallName extends `${infer G}.${string}` ? G : never;
/**
 * One handler for each call of a group, `Handlers<'lookup'>`, or for all of them: a missing one does not compile.
 */
export type Handlers<G extends CallGroup = CallGroup> = {
  readonly [N in Extract<CallName, `${G}.${string}`>]: (
    input: CallInput<N>,
  ) => Promise<Outcome<CallOutput<N>>>;
};
export type FileCall = { [N in CallName]: Calls[N]['files'] extends 'one' ? N : never }[CallName];
export type FilesCall = { [N in CallName]: Calls[N]['files'] extends 'several' ? N : never }[CallName];

/** What main sends to the window unasked. Parsed before it leaves, like every answer. */
export const events = {
  'app.state': z.union([appState, lockedAppState]),
  /** The system asked to open something: `app.takeOpened` gives it. */
  'app.opened': nothing,
  /** Chosen in the application's menu. */
  'app.command': z.strictObject({ command: appCommand }),
  /** The cleartext of this reveal must leave the screen now. */
  'reveal.ended': z.strictObject({
    revealId: id,
    cause: z.enum(['time', 'hidden', 'blur', 'locked', 'replaced']),
  }),
  /** How far a workbook is read that is being opened, 0 to 1. */
  'batch.opening': z.strictObject({ name: z.string().max(300), share: z.number().min(0).max(1) }),
  'batch.preflight': preflight,
  'batch.job': job,
  'batch.queue': queue,
  /** Its time was over: see `keepResultsDays`. */
  'batch.removed': z.strictObject({ jobId: id }),
  /** How far a view of a job's rows is, 0 to 1; 1 is sent at its end. */
  'batch.viewing': z.strictObject({ jobId: id, share: z.number().min(0).max(1) }),
  /** How far a corrected list is compared with its job, 0 to 1. */
  'batch.comparing': z.strictObject({ jobId: id, share: z.number().min(0).max(1) }),
  /** How far files are compared, 0 to 1, and how many rows were read. */
  'compare.progress': z.strictObject({ share: z.number().min(0).max(1), rows: count }),
  /** How far a story is, 0 to 1. */
  'story.progress': z.strictObject({ share: z.number().min(0).max(1) }),
  /** How far files are looked through, 0 to 1, how many rows that were, and which file it is. */
  'inventory.progress': z.strictObject({
    share: z.number().min(0).max(1),
    rows: count,
    file: z.string().max(1_000),
  }),
  /** How far an export is written, 0 to 1, and how many rows that are. */
  'batch.exporting': z.strictObject({ jobId: id, share: z.number().min(0).max(1), rows: count }),
} as const;

type Events = typeof events;

/** The events that are sent while the app is locked, each as what may be in it then; all others are dropped. */
export const eventsWhileLocked: Partial<Record<EventName, z.ZodType>> = {
  'app.state': lockedAppState,
  'reveal.ended': events['reveal.ended'],
};
export type EventName = keyof Events;
export type EventPayload<N extends EventName> = z.infer<Events[N]>;
