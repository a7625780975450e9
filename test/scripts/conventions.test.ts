import fs from 'node:fs';
import { expect, test } from 'vitest';

test('each convention has an answer, a place or a reason, and places that are there', () => {
  const page = fs.readFileSync('docs/conventions.md', 'utf8');
  const rows = page.matchAll(/^\| (\d+) +\| (.+?) +\| (\S+) +\| (.+?) *\|$/gm);
  const found = Array.from(rows, ([, number, name, answer, text = '']) => ({ number, name, answer, text }));
  expect(found.map(({ number }) => Number(number))).toEqual(Array.from({ length: 70 }, (_, at) => at + 1));
  for (const { number, answer, text } of found) {
    expect([number, answer]).toEqual([number, expect.stringMatching(/^(yes|partly|no)$/)]);
    expect([number, text.length > (answer === 'yes' ? 5 : 60)]).toEqual([number, true]);
    const places = text.matchAll(/`((?:electron|src|scripts|resources)[/\w.-]*)`|\]\((\w[\w-]*\.md)\)/g);
    for (const [, file, document] of places) {
      // What an installation has beside its archive comes of the build.
      const place = file === 'resources/verify' ? 'scripts/write-verifiers.ts' : (file ?? `docs/${document}`);
      expect([number, place, fs.existsSync(place)]).toEqual([number, place, true]);
    }
  }
});
