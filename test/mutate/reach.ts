import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

/** What one test file has called, as `reach-setup.ts` writes it. */
interface Reached {
  readonly test: string;
  /** By file, names of functions. */
  readonly called: Readonly<Record<string, readonly string[]>>;
}

export type Reach = readonly Reached[];

/** Runs the tests of the project `unit` once in `root`, two at a time, and notes in `folder` what each file has called. */
export async function measureReach(root: string, folder: string): Promise<void> {
  fs.mkdirSync(folder, { recursive: true });
  const child = spawn(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', 'run', '--maxWorkers', '2', '--project', 'unit', '--project', 'alone'],
    { cwd: root, env: { ...process.env, TOKENDESK_REACH: folder }, stdio: 'ignore' },
  );
  await new Promise((resolve) => child.once('close', resolve));
}

export const readReach = (folder: string): Reach =>
  fs
    .readdirSync(folder)
    .map((name) => JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8')) as Reached);

/** Names of the functions around a position, the innermost first, as the engine reports them. */
export function functionsAround(file: string, text: string, position: number): string[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const names: string[] = [];
  const visit = (node: ts.Node): void => {
    if (position < node.getStart(source) || position >= node.getEnd()) return;
    if (ts.isFunctionLike(node)) names.unshift(nameOf(node));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return names.filter((name) => name !== '');
}

function nameOf(node: ts.SignatureDeclaration): string {
  const named = node.name ?? ('name' in node.parent ? node.parent.name : undefined);
  if (
    named === undefined ||
    !(ts.isIdentifier(named) || ts.isPrivateIdentifier(named) || ts.isStringLiteral(named))
  )
    return '';
  return named.text;
}

/**
 * Test files that have called the function, those first that call least besides: they are about it. Empty where it is not
 * known to be called: what runs in another thread or process is not seen.
 */
export function testsThatReach(reach: Reach, file: string, names: readonly string[]): string[] {
  const sizeOf = ({ called }: Reached): number => Object.values(called).flat().length;
  const having = (name: string): Reached[] => reach.filter(({ called }) => called[file]?.includes(name));
  const reached = names.map(having).find((found) => found.length > 0) ?? [];
  return reached.toSorted((one, other) => sizeOf(one) - sizeOf(other)).map(({ test }) => test);
}
