import fs from 'node:fs';
import path from 'node:path';

/** One row of docs/specification.md. */
export interface SpecificationRow {
  readonly row: string;
  readonly statement: string;
  readonly outcome: string;
  readonly sides: readonly string[];
  /** Test files, and whether their tests for the row are named after it; else all of them are meant. */
  readonly files: readonly { readonly file: string; readonly isNamed: boolean }[];
  /** Whether checks of conformance belong to it. */
  readonly isConformance: boolean;
}

/** The test files that a cell of the table names; other names in it are members of a profile or an answer. */
const filesIn = (cell: string): string[] =>
  [...cell.matchAll(/`([\w-]+(?:\/[\w-]+)+)`/g)].map(([, name = '']) => {
    const isBeside = name.startsWith('src/') || name.startsWith('e2e/');
    return path.join(
      'test',
      isBeside ? '' : 'electron',
      `${name}.${name.startsWith('e2e/') ? 'spec' : 'test'}.ts`,
    );
  });

export function readSpecificationRows(): SpecificationRow[] {
  const text = fs.readFileSync(new URL('../../docs/specification.md', import.meta.url), 'utf8');
  return [...text.matchAll(/^\| ((?:\d|C)\.\d+) *\|([^|]+)\|([^|]+)\|([^|]+)\|([^|]+)\|$/gm)].map(
    ([, row = '', statement = '', outcome = '', app = '', service = '']) => {
      const sides = [app.trim(), service.trim()];
      return {
        row,
        statement: statement.trim(),
        outcome: outcome.trim(),
        sides,
        files: sides.flatMap((cell) =>
          filesIn(cell).map((file) => ({ file, isNamed: !cell.startsWith('See ') })),
        ),
        isConformance: service.trim().startsWith('Conformance'),
      };
    },
  );
}
