import fs from 'node:fs';
import path from 'node:path';

const filesBelow = (root: string, folder: string): string[] =>
  fs
    .readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => path.join(folder, name));

/** What a module loads of the project, itself and with `import()`, by the text of its imports. */
function importsOf(root: string, file: string): string[] {
  const text = fs.readFileSync(path.join(root, file), 'utf8');
  const names = [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(([, name]) => name ?? '');
  return names
    .map((name) => path.join(path.dirname(file), name))
    .filter((name) => name.endsWith('.ts') && fs.existsSync(path.join(root, name)));
}

/** Test files by how many imports they are away from a file, the nearest first. Those named after it come before others. */
export function createRelated(root: string): (file: string) => string[] {
  const tests = filesBelow(root, 'test').filter((name) =>
    /^test\/(attacks|electron)\/.*\.test\.ts$/.test(name),
  );
  const known = new Map<string, string[]>();
  const imports = (file: string): string[] => {
    const found = known.get(file) ?? importsOf(root, file);
    known.set(file, found);
    return found;
  };
  function distance(from: string, to: string): number {
    let edge = new Set([from]);
    const seen = new Set(edge);
    for (let steps = 0; edge.size > 0; steps++) {
      if (edge.has(to)) return steps;
      edge = new Set([...edge].flatMap(imports).filter((file) => !seen.has(file)));
      for (const file of edge) seen.add(file);
    }
    return Infinity;
  }
  return (file) => {
    const name = path.basename(file, '.ts');
    return tests
      .map((test) => ({ test, steps: path.basename(test).startsWith(`${name}.`) ? 0 : distance(test, file) }))
      .filter(({ steps }) => steps < Infinity)
      .sort((one, other) => one.steps - other.steps || (one.test < other.test ? -1 : 1))
      .map(({ test }) => test);
  };
}
