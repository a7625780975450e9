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

/**
 * Test files that reach a file, the nearest first: those named after it, then by how many imports they are away. Half of
 * them load the whole app and so are equally far: of these the ones come first that lie in the folder that mirrors the
 * file's, share a word of its name, or speak of it. Then the other attacks. What `isSlow` names comes last, and only where
 * it is about the file by one of these signs.
 */
export function createRelated(
  root: string,
  isSlow: (test: string) => boolean,
): (file: string, count: number) => string[] {
  const tests = filesBelow(root, 'test').filter((name) =>
    /^test\/(attacks|electron|scripts|src)\/.*\.test\.ts$/.test(name),
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
  return (file, count) => {
    const name = path.basename(file, '.ts');
    const folder = path.dirname(file);
    const mirrored = path.join('test', folder);
    const words = name.split('-').filter((word) => word.length > 3);
    const exported = [
      ...fs
        .readFileSync(path.join(root, file), 'utf8')
        .matchAll(/^export (?:async )?(?:function|const) (\w+)/gm),
    ].map(([, one]) => one ?? '');
    function signsOf(test: string): number {
      const text = fs.readFileSync(path.join(root, test), 'utf8');
      const base = path.basename(test);
      const isMirrored = path.dirname(test).startsWith(mirrored) || base.includes(path.basename(folder));
      return (
        Number(isMirrored) +
        Number(words.some((word) => base.includes(word))) +
        Number(exported.some((one) => text.includes(one)))
      );
    }
    const rankOf = (test: string, steps: number, signs: number): number[] => [
      isNamed(test, name) ? 0 : 1,
      -signs,
      // Above three imports the way leads through the app, and its length says nothing.
      Math.min(steps, 4),
      test.startsWith('test/attacks/') ? 0 : 1,
      steps,
    ];
    const ranked = tests
      .map((test) => ({ test, steps: distance(test, file), signs: signsOf(test) }))
      .filter(({ test, steps }) => steps < Infinity || isNamed(test, name))
      .filter(({ test, signs }) => signs > 0 || !isSlow(test))
      .map(({ test, steps, signs }) => ({ test, rank: rankOf(test, steps, signs) }))
      .sort((one, other) => {
        const at = one.rank.findIndex((value, index) => value !== other.rank[index]);
        if (at !== -1) return (one.rank[at] ?? 0) - (other.rank[at] ?? 0);
        return one.test < other.test ? -1 : 1;
      })
      .map(({ test }) => test);
    const attacks = ranked.slice(count).filter((test) => test.startsWith('test/attacks/'));
    return [...ranked.slice(0, count), ...attacks];
  };
}

const isNamed = (test: string, name: string): boolean => path.basename(test).startsWith(`${name}.`);
