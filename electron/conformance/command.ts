import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { writeFileAtomically } from '../storage/atomic-file.ts';
import { readCertificates } from '../service/http/certificates.ts';
import { readProfile } from '../service/profile.ts';
import { accountSchema } from './account.ts';
import { formatJson, formatJunit, formatText } from './report.ts';
import { runSuite } from './suite.ts';
import type { TargetOptions } from './target.ts';

interface CommandOptions {
  /** What stands behind the name of the command, and its profile. */
  readonly args: readonly string[];
  /** All of standard input: the account with its credentials, which stand in no argument and need stand in no file. */
  readonly readInput: () => Promise<string>;
  readonly isAllowedHost: (baseUrl: string) => boolean;
}

/**
 * Checks a service against the specification, statement by statement. 0: none fails. 1: some do. 2: it could not be
 * checked, and the text says why.
 */
export async function checkConformance({
  args,
  readInput,
  isAllowedHost,
}: CommandOptions): Promise<{ readonly text: string; readonly code: 0 | 1 | 2 }> {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        'base-url': { type: 'string' },
        ca: { type: 'string' },
        'session-seconds': { type: 'string' },
        json: { type: 'string' },
        junit: { type: 'string' },
      },
    });
    const baseUrl = values['base-url'] ?? '';
    const [profile] = positionals;
    if (!URL.canParse(baseUrl) || new URL(baseUrl).protocol !== 'https:' || positionals.length > 1)
      return unusable(`Usage: ${usage}`);
    const { username, password } = new URL(baseUrl);
    if (username !== '' || password !== '')
      return unusable('The address must have no user name and no password in it.');
    if (!isAllowedHost(baseUrl)) return unusable('The administrator allows no connection to this host.');
    const seconds = values['session-seconds'];
    const sessionSeconds = seconds === undefined ? undefined : Number(seconds);
    if (sessionSeconds !== undefined && !(sessionSeconds > 0 && Number.isFinite(sessionSeconds)))
      return unusable('--session-seconds must be a number.');
    const options: TargetOptions = {
      baseUrl,
      ca: await readAuthorities(values.ca),
      profile: await readProfileAt(profile),
      account: parseAccount(await readInput()),
      sessionSeconds,
    };
    const { results, trouble } = await runSuite(options);
    if (trouble !== null) return unusable(trouble);
    const files = [
      [values.json, formatJson(results, baseUrl)],
      [values.junit, formatJunit(results)],
    ] as const;
    for (const [file, content] of files) {
      const written = file === undefined ? null : await writeFileAtomically(file, content);
      if (written?.ok === false) return unusable(`${basename(file ?? '')} can’t be written.`);
    }
    const failed = results.some(({ outcome }) => outcome === 'fail');
    return { text: `${formatText(results)}\n`, code: failed ? 1 : 0 };
  } catch (error) {
    return unusable(
      error instanceof Unusable || isArgumentError(error) ? error.message : 'It could not be checked.',
    );
  }
}

const usage =
  'tokendesk --conformance [PROFILE] --base-url=URL [--ca=FILE] [--session-seconds=N] [--junit=FILE] [--json=FILE] < ACCOUNT';

/** Why it could not be checked, in words that quote no secret. */
class Unusable extends Error {}

const isArgumentError = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');

const unusable = (text: string) => ({ text: `COULD NOT BE CHECKED: ${text}\n`, code: 2 as const });

async function readNamed(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  try {
    return await readFile(file, 'utf8');
  } catch {
    throw new Unusable(`${basename(file)} can’t be read.`);
  }
}

async function readAuthorities(file: string | undefined): Promise<string | undefined> {
  const text = await readNamed(file);
  if (text !== undefined && !readCertificates(text).ok)
    throw new Unusable(`${basename(file ?? '')} holds no certificate.`);
  return text;
}

async function readProfileAt(file: string | undefined): Promise<string | undefined> {
  const text = await readNamed(file);
  const read = text === undefined ? null : readProfile(text);
  if (read?.ok === false)
    throw new Unusable(`${basename(file ?? '')} is no service profile: ${read.failure.subject ?? ''}`);
  return text;
}

/** A parser's own message could quote a password: only the member is named. */
function parseAccount(text: string): unknown {
  let account: unknown;
  try {
    account = JSON.parse(text);
  } catch {
    throw new Unusable('Standard input is no account in JSON.');
  }
  const [issue] = accountSchema.safeParse(account).error?.issues ?? [];
  if (issue !== undefined)
    throw new Unusable(`The account on standard input has no usable ${issue.path.join('.') || 'members'}.`);
  return account;
}
