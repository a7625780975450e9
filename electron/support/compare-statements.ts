import fs from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { attestation, type Attestation } from '../contract/models/attestation.ts';
import { readSmallFile } from '../storage/read-small-file.ts';
import { signerOf } from '../storage/signed-document.ts';

/*
 * `--compare`: which of many workstations differ, by the statements that `--attest` made on each. Nothing but the files is
 * needed, and nothing is asked anywhere.
 */

interface Verdict {
  readonly text: string;
  /** 0: all alike. 1: something differs, or is not valid. 2: something could not be checked. 3: alike, by unknown signers. */
  readonly code: 0 | 1 | 2 | 3;
}

/** One that holds by itself. */
interface Statement {
  readonly file: string;
  readonly signer: string;
  /** What a person knows it by. */
  readonly label: string;
  readonly said: Attestation;
}

interface Findings {
  /** What is wrong or differs. */
  readonly differences: string[];
  /** What could not be looked at. */
  readonly unchecked: string[];
}

const maxBytes = 1024 * 1024;
const usage = 'tokendesk --compare=FOLDER [--known-signers=FILE]';

/** From the arguments behind the switch to the lines and the exit code. */
export async function compareStatements(args: readonly string[]): Promise<Verdict> {
  const given = readArguments(args);
  if (typeof given === 'string') return unverifiable(given);
  const { folder, signersFile } = given;
  const known = signersFile === null ? null : await readSigners(signersFile);
  if (typeof known === 'string') return unverifiable(known);
  const names = await fs.readdir(folder).catch(() => null);
  if (names === null) return unverifiable(`There is no folder ${folder}.`);
  const findings: Findings = { differences: [], unchecked: [] };
  const statements: Statement[] = [];
  for (const name of names.filter((one) => one.endsWith('.json')).sort()) {
    const read = await readStatement(path.join(folder, name), known);
    if ('said' in read) statements.push(read);
    else findings[read.kind].push(`${name}: ${read.reason}`);
  }
  const newest = newestOfEach(statements, findings);
  for (const group of groupsOf(newest)) findings.differences.push(...differencesIn(group));
  return report(newest, findings, known !== null);
}

const unverifiable = (sentence: string): Verdict => ({
  text: `${plain(`COULD NOT BE CHECKED: ${sentence}`)}\n`,
  code: 2,
});

function readArguments(args: readonly string[]): { folder: string; signersFile: string | null } | string {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { 'known-signers': { type: 'string' } },
    });
    const [folder = '', ...more] = positionals;
    if (folder === '' || more.length > 0) return `Name one folder. ${usage}`;
    return { folder, signersFile: values['known-signers'] ?? null };
  } catch {
    return `There is a switch that it does not have. ${usage}`;
  }
}

/** Names by fingerprint: one a line, a name behind it if wanted; a line that begins with "#" is for people. */
async function readSigners(file: string): Promise<ReadonlyMap<string, string> | string> {
  const read = await readSmallFile(file, { maxBytes });
  if (read.kind !== 'read')
    return `${file}: ${read.kind === 'missing' ? 'there is no such file' : read.reason}.`;
  const signers = new Map<string, string>();
  for (const [index, line] of read.bytes.toString('utf8').split(/\r?\n/).entries()) {
    const text = line.replace(/^\uFEFF/, '').trim();
    if (text === '' || text.startsWith('#')) continue;
    const [, fingerprint = '', name = ''] = /^([0-9a-f]{64})(?:\s+(.*))?$/i.exec(text) ?? [];
    if (fingerprint === '') return `${file}, line ${index + 1}: that is no fingerprint of a signer.`;
    signers.set(fingerprint.toLowerCase(), name);
  }
  return signers.size === 0 ? `${file} names no signer.` : signers;
}

async function readStatement(
  file: string,
  known: ReadonlyMap<string, string> | null,
): Promise<Statement | { readonly kind: keyof Findings; readonly reason: string }> {
  const unchecked = (reason: string) => ({ kind: 'unchecked' as const, reason });
  const read = await readSmallFile(file, { maxBytes });
  if (read.kind !== 'read') return unchecked(read.kind === 'missing' ? 'it is gone' : read.reason);
  let value: unknown;
  try {
    value = JSON.parse(read.bytes.toString('utf8'));
  } catch {
    return unchecked('it is not JSON');
  }
  const { format, version } = (value ?? {}) as { readonly format?: unknown; readonly version?: unknown };
  if (format !== 'tokendesk-attestation') return unchecked('it is no statement of a workstation');
  const signer = signerOf(value);
  if (signer === null) return { kind: 'differences', reason: 'its signature does not hold' };
  if (version !== 1) return unchecked('its version is not known here');
  const checked = attestation.safeParse(value);
  if (!checked.success)
    return unchecked(`its member ${checked.error.issues[0]?.path.join('.') ?? ''} can’t be read`);
  const name = known?.get(signer);
  if (known !== null && name === undefined)
    return { kind: 'differences', reason: `it is signed by ${signer}, who is no known signer` };
  const said = checked.data;
  const label = name === undefined || name === '' ? `${said.workstation} (${said.by})` : name;
  return { file, signer, label, said };
}

/** An earlier statement of a workstation only has to agree with its log, which never gets shorter. */
function newestOfEach(statements: readonly Statement[], { differences }: Findings): Statement[] {
  const newest = new Map<string, Statement>();
  for (const one of [...statements].sort((a, b) => a.said.made.localeCompare(b.said.made))) {
    const before = newest.get(one.signer);
    if (before !== undefined && one.said.log.head.sequence < before.said.log.head.sequence)
      differences.push(`${one.label}: its audit log is shorter than on ${before.said.made}`);
    newest.set(one.signer, one);
  }
  const all = [...newest.values()].sort((a, b) => a.label.localeCompare(b.label));
  // Machines that were copied have one name: then the signer tells them apart.
  return all.map((one) =>
    all.filter(({ label }) => label === one.label).length === 1
      ? one
      : { ...one, label: `${one.label}, ${one.signer.slice(0, 16)}` },
  );
}

/** Those of one system: fuses, files and settings of others are others. */
function groupsOf(statements: readonly Statement[]): Statement[][] {
  return [...Map.groupBy(statements, ({ said }) => said.versions.system).values()];
}

/** What is compared, by what a person calls it. */
function factsOf({ versions, checks, policy, connections, files, sbom }: Attestation): Map<string, string> {
  const { application, electron, chromium, node } = versions;
  return new Map<string, string>([
    ...Object.entries({ application, electron, chromium, node }),
    ...checks.map(({ name, detail }): [string, string] => [`self-check, ${name}`, detail]),
    ...Object.entries(policy.settings).map(([name, { value, source }]): [string, string] => [
      `policy, ${name}`,
      `${JSON.stringify(value)} (${source})`,
    ]),
    ['provided connections', connections === null ? absent : connections.sha256],
    ['packed files', files ?? absent],
    ['bill of materials', sbom ?? absent],
  ]);
}

const absent = 'none';

function differencesIn(group: readonly Statement[]): string[] {
  const facts = group.map(({ said }) => factsOf(said));
  const names = [...new Set(facts.flatMap((one) => [...one.keys()]))];
  const usual = new Map(
    names.map((name) => [name, mostFrequent(facts.map((one) => one.get(name) ?? absent))]),
  );
  return group.flatMap(({ label, said }, index) => [
    ...said.checks
      .filter(({ ok }) => !ok)
      .map(({ name, detail }) => `${label}: self-check, ${name}: not ok: ${detail}`),
    ...(said.log.state === 'intact' ? [] : [`${label}: its audit log is not what was written`]),
    ...names.flatMap((name) => {
      const own = facts[index]?.get(name) ?? absent;
      const others = usual.get(name) ?? absent;
      return own === others ? [] : [`${label}: ${name}: ${own}; elsewhere ${others}`];
    }),
  ]);
}

/** The first of those that are as frequent. */
function mostFrequent(values: readonly string[]): string {
  const counts = [...Map.groupBy(values, (value) => value)].map(([value, all]) => ({
    value,
    count: all.length,
  }));
  return counts.reduce((best, one) => (one.count > best.count ? one : best), { value: '', count: 0 }).value;
}

function report(
  statements: readonly Statement[],
  { differences, unchecked }: Findings,
  isKnown: boolean,
): Verdict {
  const count = `${statements.length} ${statements.length === 1 ? 'workstation' : 'workstations'}`;
  const [last, code]: [string, Verdict['code']] =
    differences.length > 0
      ? [`DIFFERENT: ${count}, ${differences.length} findings.`, 1]
      : unchecked.length > 0 || statements.length === 0
        ? [`COULD NOT BE CHECKED: ${statements.length === 0 ? 'there is no statement' : 'see above'}.`, 2]
        : isKnown
          ? [`ALIKE: ${count}, each signed by a known signer.`, 0]
          : [`ALIKE, SIGNERS UNKNOWN: ${count}; without --known-signers anybody may have made them.`, 3];
  const lines = [
    ...statements.map(
      ({ label, signer, said }) => `  ${label}, ${said.versions.system}, ${said.made}, ${signer}`,
    ),
    ...differences.map((line) => `✗ ${line}`),
    ...unchecked.map((line) => `? ${line}`),
    last,
  ];
  return { text: lines.map((line) => `${plain(line)}\n`).join(''), code };
}

/** One line, whatever a file says: no text of it looks like a verdict, or hides one. */
const plain = (line: string): string => line.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\uFFFD');
