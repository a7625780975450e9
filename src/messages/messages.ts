import type { Failure, FailureCode } from '../../electron/contract/errors.ts';
import { rowReasons } from '../../electron/contract/row-reasons.ts';
import type { SettingsDamage } from '../../electron/contract/models/app.ts';
import { appMessages } from './app.ts';
import { approvalMessages } from './approval.ts';
import { batchMessages } from './batch.ts';
import type { Format, Message, Retry } from './message.ts';
import { serviceMessages } from './service.ts';

const messages: Record<FailureCode, Format> = {
  ...appMessages,
  ...approvalMessages,
  ...batchMessages,
  ...serviceMessages,
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

/** What a message says without names and numbers, whether trying again helps, and what to do. */
interface ListedMessage extends Message {
  /** Of the guide's part about it. Codes with the same text share one. */
  readonly part: string;
}

/** Each text once, in the order of the list of codes. */
export function allMessages(): ListedMessage[] {
  const found = new Map<string, ListedMessage>();
  for (const code of Object.keys(messages) as FailureCode[]) {
    const message = messages[code]({ code });
    const text = `${message.summary} ${message.advice}`;
    if (!found.has(text)) found.set(text, { ...message, part: `message-${code.replace('.', '-')}` });
  }
  return [...found.values()];
}

/** Where the guide is about a failure. */
export function messagePart(code: FailureCode): string {
  const { summary, advice } = messages[code]({ code });
  const listed = allMessages().find((one) => one.summary === summary && one.advice === advice);
  return listed?.part ?? 'all-messages';
}

export const isFailureCode = (code: string): code is FailureCode => Object.hasOwn(messages, code);

/** What a person is told after a start that removed what exports had left when the app was killed. */
export const removedPartialsNotice = (names: readonly string[]): string =>
  `Tokendesk ended while it wrote ${names.join(', ')}: what was written so far has been removed. Export it again.`;

/** What a person is told after a start that could not look for what exports had left. */
export function leftPartialsNotice(names: readonly string[]): string {
  const known = names.filter((name) => name !== '');
  const ended = `Tokendesk ended while it wrote ${known.length === 0 ? 'exports' : known.join(', ')}`;
  const why =
    known.length === 0
      ? 'and the list of where can’t be read'
      : 'and could not look for what is left of it: the folder is away, or the file there is older than the export';
  const files =
    known.length === 0 ? 'files that end in .partial' : known.map((name) => `${name}.partial`).join(', ');
  return `${ended}, ${why}. Look for ${files} and delete what is there: it may hold values in clear.`;
}

/** What a person is told whose passphrase was lost, and the way on. */
export const secretsForgottenNotice =
  'The passphrase and all stored secrets were forgotten. Look at each connection of your own, save it, and enter its API key and passwords again.';

/** What a person is told at the first start of a newer version. */
export const upgradeNotice = (before: string, now: string): string =>
  `Tokendesk is version ${now} now. It was ${before}.`;

/** What a person is told who opened several files at once; empty with one. */
export function otherFilesNotice(others: number): string {
  if (others === 0) return '';
  const rest = others === 1 ? 'The other one was' : `The other ${others} were`;
  return `The system hands over one file at a time. ${rest} not opened: drop them on the window together, and those of one kind run together.`;
}

/** What a person is told after a start with a settings file that could not be used as it was. */
export function settingsNotice({ reason, keptAs }: SettingsDamage): string {
  const asItWas = `The file as it was is saved as ${keptAs}.`;
  switch (reason) {
    case 'unreadable':
      return `The settings could not be read and were reset. ${asItWas}`;
    case 'unfit':
      return `Some settings could not be read and were reset. ${asItWas}`;
    case 'uncopied':
      return (
        'Some settings could not be read. No copy of the file could be saved, since the disk is full or refuses it: ' +
        'it stays as it is, and no change is saved before there is one.'
      );
    case 'newer':
      return (
        'The settings were saved by a newer version of Tokendesk and are left as they are. ' +
        `This version has its own in ${keptAs}, with what it knows of them; the newer version will not use those.`
      );
    case 'changed':
      return (
        'The times of lock, reveal and clipboard, or whether a case is needed, were changed outside of Tokendesk. ' +
        'They have been set back: set them again in Settings.'
      );
    case 'lost':
      return (
        'The keychain does not have the key that the secrets of this folder were stored under: the folder is a copy or came ' +
        'from another computer, or somebody removed the key. The secrets are gone, and the times of lock, reveal and ' +
        'clipboard have been set back. Check each connection, save it, and enter its secrets again.'
      );
    case 'other':
      return `Settings of another version of Tokendesk were found and are not in use. They are saved as ${keptAs}.`;
  }
}
