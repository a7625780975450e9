import type { Failure, FailureCode } from '../../electron/contract/errors.ts';
import { formatCount } from '../lib/format.ts';
import { message, type Format } from './message.ts';

const row = (f: Failure): string => (f.row === undefined ? 'A row' : `Row ${formatCount(f.row)}`);
const file = (f: Failure): string => f.subject ?? 'The file';

const decryptPgp =
  'Where GnuPG is installed and allowed, Tokendesk opens what is encrypted with it. Otherwise: gpg --output cards.csv --decrypt FILE. Then drop cards.csv, and delete it afterwards.';

/** What to do with a file that is no table, by what it was found to be; of the app's own, where it goes. */
const otherFiles: Readonly<Record<string, string>> = {
  'list of connections': 'Import it under Settings, Connections file.',
  'service profile': 'Import it under Connections, in the connection that it is for.',
  'ZIP archive with a password': 'Unpack it with its password, and drop what is in it.',
  'ZIP archive of another kind than DEFLATE': 'Unpack it, and drop what is in it.',
  'archive in an archive': 'Unpack it once, and drop what is in it.',
  'tar archive': 'Unpack it, and drop the file in it that has the table.',
  'file encrypted with age': 'Decrypt it: age --decrypt -o cards.csv FILE. Then drop cards.csv.',
  'file encrypted with age for a key':
    'Decrypt it with the key: age --decrypt -i KEYFILE -o cards.csv FILE. Then drop cards.csv.',
  'file encrypted with PGP': decryptPgp,
  'file encrypted or signed with PGP': decryptPgp,
};

/** What files, their rows and values, batches and exports fail of. */
export const batchMessages = {
  'export.no-columns': () =>
    message(
      'JSON and records of fixed width have no place for a column that is added.',
      'Choose another form under Format, or run it again with results in place of the values.',
      'now',
    ),
  'export.array-part': () =>
    message(
      'A part of the array would be no JSON any more.',
      'Export all rows once the batch has finished, or choose another form under Format.',
      'now',
    ),
  'export.too-large': () =>
    message(
      'The file of connections would be larger than 4 MB, which an import does not take.',
      'Remove mappings or connections that are not needed, then export again.',
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
  'file.unknown': () => message('This file is no longer open.', 'Drop it again.', 'now'),
  'file.refused': () =>
    message(
      'A file that is dropped must be on this computer, not hidden, and named as a table is: .csv, .tsv, .txt, .dat or .xlsx, for example.',
      'Open any other file with “Choose a file”.',
    ),
  'file.gone': (f) => message(`${file(f)} is no longer there.`, 'Put it back or choose another file.'),
  'file.changed': (f) =>
    message(
      `${file(f)} has changed since the batch started.`,
      'Put the earlier file or a copy of it back, then resume or export. Without that file, cancel the batch and export the results alone, or start a new one.',
    ),
  'file.unreadable': (f) =>
    message(`${file(f)} can’t be read.`, 'Check that you have permission to open it.'),
  'file.folder': (f) => message(`${file(f)} is a folder.`, 'Choose the files in it.'),
  'file.empty': (f) => message(`${file(f)} is empty.`, 'Choose another file.'),
  'file.too-many-columns': () => message('This file has too many columns.', 'Check the delimiter.'),
  'file.delimiter': (f) =>
    message(
      `In ${f.subject ?? 'this encoding'} that character is none, another one or more than one byte, so columns can’t be told apart by it.`,
      'Check the encoding, or choose another delimiter.',
    ),
  'file.exists': (f) => message(`${file(f)} is already there and was left as it is.`, 'Choose another name.'),
  'file.unwritable': (f) =>
    message(`${file(f)} can’t be written.`, 'Close it elsewhere or choose another folder.', 'now'),
  'file.disk-full': () =>
    message(
      'The disk is full. What was there before is untouched.',
      'Free some space, then try again.',
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
      otherFiles[f.subject ?? ''] ??
        'Save its rows as CSV UTF-8, or as .xlsx without a password, and drop that.',
    ),
  'file.json-damaged': () =>
    message(
      'This array of JSON is not whole, or not all of it are objects with one member of each name, so nothing of it was taken.',
      'Have it sent again, or written as JSON Lines: one object in each line.',
    ),
  'file.record-length': (f) =>
    message(
      `The file is no whole number of records of ${f.subject ?? 'this many'} bytes: it was cut, or bytes are missing. Nothing was sent.`,
      'Have it sent again, or correct the bytes of a record in the layout.',
    ),
  'file.archive-damaged': (f) =>
    message(
      `${file(f)} is damaged or not whole, so nothing of it was taken.`,
      'Copy it again, or have it sent again.',
    ),
  'file.archive-junk': (f) =>
    message(
      `${file(f)} has something behind the end of its archive, which may be rows that got lost.`,
      'Have it sent again. If you know what that is, unpack it and drop what was in it.',
    ),
  'file.archive-empty': (f) => message(`There is no file in ${file(f)}.`, 'Choose another file.'),
  'file.archive-several': (f) =>
    message(
      `${file(f)} has more than one file in it, and only one can be read.`,
      'Unpack it, and drop the file that has the table.',
    ),
  'file.archive-names': (f) =>
    message(
      `${file(f)} names a file outside of its own folder, as archives do that are made to harm. Nothing was unpacked.`,
      'Ask who sent it.',
    ),
  'file.archive-too-large': (f) =>
    message(
      `${file(f)} unpacks to far more than its size lets expect, so it was not read.`,
      'If you trust it, unpack it and drop what is in it.',
    ),
  'file.passphrase-needed': (f) =>
    message(
      `${file(f)} is encrypted with a passphrase.`,
      'Drop it on the page Batch, and type the passphrase there.',
    ),
  'file.passphrase-wrong': (f) =>
    message(`That is not the passphrase of ${file(f)}.`, 'Type it again.', 'now'),
  'file.pgp-key': (f) =>
    message(
      `${file(f)} is encrypted with PGP for a key that GnuPG on this computer does not have.`,
      'Import your secret key into GnuPG, or have the file encrypted for a key of yours.',
    ),
  'file.pgp-locked': (f) =>
    message(
      `GnuPG did not decrypt ${file(f)}: it was not given the right passphrase.`,
      'Open the file again, and type the passphrase of your key in the dialog of GnuPG.',
      'now',
    ),
  'file.workbook-damaged': (f) =>
    message(
      `${file(f)} is damaged, or not the workbook it seems to be.`,
      'Open it in a spreadsheet program and save it again, as .xlsx or CSV UTF-8.',
    ),
  'file.workbook-sparse': (f) =>
    message(
      `The sheet in ${file(f)} has few cells, far apart: as a table it would be nearly all empty cells, so it was not read.`,
      'Delete the cells that stand far from the others, or copy the table to a sheet of its own, and drop that.',
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
  'row.record-length': (f) =>
    message(
      `${row(f)} is shorter or longer than a record of this layout.`,
      'Correct it in the file, or the length in the layout.',
    ),
  'row.nul': (f) => message(`${row(f)} has NUL characters.`, 'Correct it in the file.'),
  'value.field-width': () =>
    message(
      'The result does not fit its field: it is too long, or begins or ends with what fills the field up.',
      'Choose a definition whose tokens are as long as the values, or a wider column in the layout.',
    ),
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
  'value.no-text': () =>
    message(
      'The value is a number, true or false in JSON. A token is a text and can’t stand in its place, so it was not sent.',
      'Have such values written as strings, in quotes.',
    ),
  'value.case-missing': () =>
    message(
      'The row has no case that can be one, so it was not sent.',
      'Write its case into the column of cases, 100 characters at most, and send the corrected rows.',
    ),
  'value.case-value': () =>
    message(
      'The case of the row has a line break in it, or looks like a card number or another value, so it was not sent.',
      'Write one case into the column of cases that tells nothing of a person, and send the corrected rows.',
    ),
  'value.marks-inside': () =>
    message(
      'The text has marks of tokens already. What is in them could not be told from new ones, so nothing of it was sent.',
      'Detokenize the column first, or choose other marks.',
    ),
  'value.spelled-inside': () =>
    message(
      'The text could not be put back as it was: a value in it is written in signs that stand for others or runs into another value, or a character of it can be written in two ways. Nothing of it was sent.',
      'Correct it in the file.',
    ),
  'value.many-inside': () =>
    message(
      'The text has more than 5,000 values in it, so nothing of it was sent.',
      'Divide the text into several rows.',
    ),
  'value.mark-broken': () =>
    message(
      'The mark of a token in the text is cut or changed, or the result would make it so.',
      'Correct the mark in the file, or choose the marks that it was tokenized with.',
    ),
  'value.unfit': () =>
    message(
      'The value does not fit the kind of the definition, so it was not sent.',
      'Check the column or choose another definition.',
    ),
  'plan.empty': () => message('No column has been chosen yet.', 'Choose an action in a column header.'),
  'plan.column-unknown': () => message('A chosen column is not in this file.', 'Choose the columns again.'),
  'plan.column-packed': () =>
    message('A packed or binary number is no text and can’t be changed.', 'Choose another column.'),
  'plan.case-column': (f) =>
    message(
      `${f.column === undefined ? 'The column' : `Column ${f.column}`} can’t hold the cases: it needs a name, its values may not be hidden, and nothing may be done with them.`,
      'Choose another column for the cases.',
    ),
  'plan.inside': (f) =>
    message(
      f.definition !== undefined
        ? `Definition ${f.definition} does not take the values it is chosen for.`
        : f.subject !== undefined
          ? `The encoding ${f.subject} has not all characters of the marks.`
          : 'Values inside texts can be tokenized and detokenized, each kind by a definition of its own.',
      f.subject === undefined
        ? 'Choose other definitions, or plan the column as whole values.'
        : 'Choose other marks.',
    ),
  'plan.tokens-again': (f) =>
    message(
      `${f.column === undefined ? 'A column' : `Column ${f.column}`} holds tokens that Tokendesk exported, and they would be tokenized once more.`,
      'Choose another operation or column. If that is meant, say so and start again.',
    ),
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
  'plan.move-within': () =>
    message('A move goes to another connection. This one is the same.', 'Choose Translate within it.'),
  'plan.move-environment': (f) =>
    message(
      `${f.subject ?? 'The other connection'} is not production, and values of production stay in it.`,
      'Choose a connection of production to move to.',
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
  'job.account-changed': (f) =>
    message(
      `${f.subject ?? 'A connection'} has another address, account or environment than when this move began: the rest would get tokens of another service.`,
      'Put the connection back as it was and resume, or begin the move anew from the file.',
    ),
  'job.source-gone': (f) =>
    message(
      `${file(f)} is no longer where it was. The counts and the reasons for failures are still here, but the rows can’t be shown or sent: their other columns are only in that file.`,
      'Put it or a copy of it back under its name, and everything works again. Without it, Export can write the results alone.',
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
  'queue.unknown': () => message('These files are no longer listed.', 'Choose or drop them again.', 'now'),
  'queue.busy': () =>
    message('The files can’t do that in their present state.', 'Pause them, or wait until they are done.'),
  'queue.columns': (f) =>
    message(
      `It has other columns than the first file${f.subject === undefined ? '' : ` (${f.subject})`}.`,
      'Open it by itself.',
    ),
  'queue.sheet': (f) =>
    message(
      f.subject === undefined
        ? 'It has several sheets, and the first file has one.'
        : `It has no sheet ${f.subject}, which the first file was read from.`,
      'Open it by itself.',
    ),
  'queue.twice': () => message('It is there once already.', 'Nothing has to be done.'),
  'queue.folder': () => message('It is a folder.', 'Drop the files that are in it.'),
  'queue.elsewhere': (f) =>
    message(
      `The files run on ${f.subject ?? 'another connection'}, and another connection is in use.`,
      'Choose that connection again, then run the file.',
    ),
  'queue.too-many': (f) =>
    message(
      `These are more files than are taken at once${f.subject === undefined ? '' : `, which is ${f.subject}`}.`,
      'Choose or drop fewer of them.',
    ),
  'export.confirm': () =>
    message('Cleartext from production needs the row count typed in.', 'Type the number of rows.', 'now'),
  'export.passphrase': () => message('The passphrase is too short.', 'Use at least eight characters.', 'now'),
  'inventory.none': () =>
    message(
      'Nothing was looked through yet.',
      'Look through a file or a folder first, then save what was counted.',
    ),
  'compare.none': () =>
    message(
      'Nothing was compared yet.',
      'Compare two files or batches first, then look at the rows or save them.',
    ),
  'compare.pasted': () =>
    message(
      'Pasted rows are not compared: by that a hidden value could be guessed.',
      'Tokenize them as a batch, and compare the batch.',
    ),
  'compare.texts': () =>
    message(
      'The column holds texts with values inside. Texts are not compared by their tokens.',
      'Choose a column in which each cell is one value.',
    ),
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
  'mend.pending': () => message('The row is corrected and was not sent yet.', 'Resume the batch.'),
  'mend.outdated': () =>
    message('The batch changed after the list was read.', 'Add the corrected rows again.', 'now'),
  'export.encoding': () =>
    message(
      'The chosen encoding has not all characters of the header, or of lines above or below the table.',
      'Choose UTF-8, which has every character.',
      'now',
    ),
  'export.cells-lost': (f) => {
    const [cells, rows] = (f.subject ?? '').split(' ');
    const where =
      rows === undefined
        ? 'some cells'
        : `${cells} ${cells === '1' ? 'cell' : 'cells'} in ${rows} ${rows === '1' ? 'row' : 'rows'}`;
    return message(
      `The chosen form can’t hold ${where}, so nothing was written: the encoding lacks a character, or a delimiter or line end stands where quotes are text.`,
      'Choose another form in UTF-8, which holds every cell, or leave these cells out.',
      'now',
    );
  },
  'export.encryption': () =>
    message(
      'The file could not be encrypted, so nothing was written.',
      'Close other programs to free memory, then try again.',
      'later',
    ),
  'export.unencrypted': () =>
    message(
      'Your administrator allows cleartext in encrypted files only.',
      'Encrypt the file with a passphrase, or export masked values.',
      'now',
    ),
  'export.cases-unknown': () =>
    message(
      'Each row has its own case, which stands in the source alone. Without it nothing is exported in clear.',
      'Export masked values or tokens, or bring the source back.',
    ),
  'export.no-cleartext': () =>
    message('This batch has no cleartext to export.', 'Export masked values or tokens.', 'now'),
  'export.forbidden': () =>
    message('Your administrator allows no cleartext in files.', 'Export masked values or tokens.'),
  'export.remaining-reason': () =>
    message(
      'Values stay in clear in columns that are copied from the source. Your administrator wants a reason for such a file, so nothing was written.',
      'Choose Export and give a reason, or map these columns too and run the file again.',
      'now',
    ),
  'export.remaining-forbidden': () =>
    message(
      'Values stay in clear in columns that are copied from the source. Your administrator allows no such file, so nothing was written.',
      'Map these columns too and run the file again, or correct the rows in the source.',
    ),
} satisfies Partial<Record<FailureCode, Format>>;
