import fs from 'node:fs';
import { fileURLToPath } from 'node:url';

/*
 * The claims of docs/electron.md about Electron and the systems it runs on, each with how it is proved. A test holds the
 * tables to the files, and `npm test` prints how many claims have which level.
 */

export const proofLevels = [
  'types',
  'documentation',
  'stand-in',
  'BoringSSL',
  'packed archive',
  'real machine',
] as const;
export type ProofLevel = (typeof proofLevels)[number];

export interface Claim {
  /** The heading it stands under. */
  readonly group: string;
  readonly claim: string;
  /** As it is written, which may be none of the list. */
  readonly level: string;
  readonly tests: readonly { readonly file: string; readonly name: string }[];
  /** Members of Electron's own declarations. */
  readonly members: readonly string[];
  /** Lines of the checklist for a person. */
  readonly lines: readonly number[];
  /** All of the last column. */
  readonly proof: string;
}

export function readClaims(): Claim[] {
  return parseClaims(read('docs/electron.md'));
}

/** Rows of three columns: claim, level, proof, which has an item a line. */
export function parseClaims(text: string): Claim[] {
  let group = '';
  return text.split('\n').flatMap((line) => {
    group = /^## (.+)$/.exec(line)?.[1] ?? group;
    const [, claim = '', level = '', proof = ''] =
      /^\| +([^|]+?) +\| +([^|]+?) +\| +([^|]+?) +\|$/.exec(line) ?? [];
    if (proof === '' || level === 'Level' || /^-+$/.test(level)) return [];
    const items = proof.split('<br>');
    return [
      {
        group,
        claim,
        level,
        proof,
        tests: items.flatMap((item) => {
          const [, file, name] = /^`(test\/[^`]+)` › (.+)$/.exec(item) ?? [];
          return file === undefined || name === undefined ? [] : [{ file, name }];
        }),
        members: items.flatMap((item) => /^`electron\.d\.ts` › `(\w+)`$/.exec(item)?.[1] ?? []),
        lines: items.flatMap((item) => {
          const found = /^\[line (\d+)\]\(first-run\.md\)$/.exec(item)?.[1];
          return found === undefined ? [] : [Number(found)];
        }),
      },
    ];
  });
}

/** Numbers of the lines of docs/first-run.md. */
export function checklistLines(): number[] {
  return [...read('docs/first-run.md').matchAll(/^\| +(\d+) +\|/gm)].map(([, line]) => Number(line));
}

/** One line: how many claims there are, and how many of each level. */
export function countClaims(claims: readonly Pick<Claim, 'level'>[]): string {
  const counts = proofLevels.map(
    (level) => `${claims.filter((claim) => claim.level === level).length} ${level}`,
  );
  return `${claims.length} claims about Electron: ${counts.join(', ')} (docs/electron.md)`;
}

function read(file: string): string {
  return fs.readFileSync(fileURLToPath(new URL(`../${file}`, import.meta.url)), 'utf8');
}
