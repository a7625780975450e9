import type { Failure, FailureCode } from '../contract/errors.ts';

/** What a script can tell the ends of a command apart by. Of several files the gravest counts: the last in this list. */
export const exitCodes = {
  /** Every row succeeded, or had nothing to send. */
  done: 0,
  /** Written, and some rows failed: they are marked in the file. */
  failedRows: 3,
  /** Written, and values stay in clear in cells that were copied. */
  remains: 7,
  /** It paused: by a signal, or since too much was refused. The same command goes on with it. */
  paused: 4,
  /** Not begun: another file, environment or rule than the mapping was saved for. Nothing was sent. */
  refused: 5,
  /** It could not go on: the service, the disk, the keychain. */
  broken: 6,
  /** Wrong use. */
  usage: 2,
} as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** An end with a sentence. */
export class End extends Error {
  readonly exitCode: ExitCode;
  readonly code: FailureCode | null;
  constructor(exitCode: ExitCode, sentence: string, code: FailureCode | null = null) {
    super(sentence);
    this.exitCode = exitCode;
    this.code = code;
  }
}

/** Failures by which nothing was begun: a rule or a person's choice stands against it. The others are outages. */
const refusals = /^(app|lock|unlock|plan|pattern|reveal|export|disclosure|connection|call)\./;

/** A command of cron or of a service has no session of its own, which the window always has. */
const noKeychain =
  'No keychain answers this command, so it has no secrets. On Linux it needs the person’s session bus (DBUS_SESSION_BUS_ADDRESS), with an unlocked keyring on it.';

export function endOf(failure: Failure, sentenceFor: (failure: Failure) => string): End {
  const exitCode = refusals.test(failure.code) ? exitCodes.refused : exitCodes.broken;
  const sentence = failure.code === 'keychain.unavailable' ? noKeychain : sentenceFor(failure);
  return new End(exitCode, sentence, failure.code);
}

export const gravestOf = (codes: readonly ExitCode[]): ExitCode => {
  const order: readonly ExitCode[] = Object.values(exitCodes);
  return codes.reduce<ExitCode>(
    (gravest, code) => (order.indexOf(code) > order.indexOf(gravest) ? code : gravest),
    exitCodes.done,
  );
};
