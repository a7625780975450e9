import fs from 'node:fs';
import { expect, it } from 'vitest';
import { listSentences, type Sentence } from '../support/list-sentences.ts';

const sentences = listSentences();

/** The next reader has all of them in one file: `out/sentences.md`. */
function write(): void {
  const byFile = Map.groupBy(sentences, ({ file }) => file);
  const parts = [...byFile].map(
    ([file, own]) => `## ${file}\n\n${own.map(({ text }) => `- ${text}`).join('\n')}\n`,
  );
  const folder = new URL('../../out/', import.meta.url);
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(new URL('sentences.md', folder), `# All sentences of the window\n\n${parts.join('\n')}`);
}

const rules: Record<string, (text: string) => boolean> = {
  'has typographic quotes and apostrophes': (text) => !/["]|\w'|'\w/.test(text),
  'has an ellipsis, not three dots': (text) => !text.includes('...'),
  'has single spaces, and none before a stop': (text) => !/ {2}|[^…] [.,;:] /.test(text),
  'does not shout': (text) => !text.includes('!'),
  'ends with a stop where it has several sentences': (text) =>
    !/[a-z’)…][.?] [A-Z]/.test(text) || /[.?…:)]$/.test(text) || /https:\/\/\S*$/.test(text),
  'has a percent sign at its number': (text) => !/\d %/.test(text),
  'has no abbreviation or word that people in another country stumble over': (text) =>
    !/\b(?:vs|etc|i\.e|please|oops|sorry|simply|whoops|gonna|utili[sz]e)\b/i.test(text),
  'does not say "kept" for what is still there': (text) => !/\bkept\b/i.test(text),
  'does not say what trying again will not do': (text) => !/won’t help by itself/.test(text),
  'names the product, not its old name': (text) => !/\bthe desk\b/i.test(text),
};

it('lists the sentences of the window in one file', () => {
  write();
  const texts = sentences.map(({ text }) => text);
  expect(texts.length).toBeGreaterThan(500);
  // Of each kind of place: a message, a label in a script, the text of an element, an attribute, a branch in markup.
  expect(texts).toContain('The API key has expired.');
  expect(texts).toContain('Signed in …');
  expect(texts).toContain('Try it on the built-in service');
  expect(texts).toContain('From the portal, under API keys.');
  expect(texts).toContain('Save and test');
});

it.each(Object.entries(rules))('every sentence %s', (_, holds) => {
  const against = (one: Sentence): string => `${one.file}: ${one.text}`;
  expect(sentences.filter(({ text }) => !holds(text)).map(against)).toEqual([]);
});
