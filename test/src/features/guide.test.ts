import { describe, expect, it } from 'vitest';
import { failureCodes } from '../../../electron/contract/errors.ts';
import { pages } from '../../../electron/contract/pages.ts';
import { chapterOf, chapters, guideParts } from '../../../src/features/guide/guide.ts';
import { parseGuide, parseInlines, textOf, type Inline } from '../../../src/features/guide/markdown.ts';
import { messageFor, messagePart } from '../../../src/messages/messages.ts';
import { guideWords, partOfWord } from '../../../src/ui/guide-link.ts';

const inlinesOf = (): Inline[] =>
  chapters.flatMap(({ blocks }) =>
    blocks.flatMap((block): Inline[] => {
      if (block.kind === 'paragraph') return [...block.inlines];
      if (block.kind === 'list') return block.items.flat();
      return block.kind === 'table' ? [block.head, ...block.rows].flat(2) : [];
    }),
  );

describe('the guide', () => {
  it('has a chapter for every page', () => {
    const ids = chapters.map(({ id }) => id);
    for (const { id } of pages) expect(ids).toContain(chapterOf(id));
  });

  it('has every message with what to do', () => {
    const all =
      chapters
        .find(({ id }) => id === 'all-messages')
        ?.blocks.map(textOf)
        .join(' ') ?? '';
    for (const code of failureCodes) {
      const { summary, advice } = messageFor({ code });
      expect(all).toContain(summary);
      expect(all).toContain(advice);
    }
  });

  it('shows no mark of its source, and leads nowhere that is not there', () => {
    const inlines = inlinesOf();
    expect(inlines.length).toBeGreaterThan(300);
    const plain = inlines.filter(({ kind }) => kind === 'text');
    expect(plain.filter(({ text }) => /\*\*|`|\]\(|^\||^#/.test(text))).toEqual([]);
    const parts = guideParts.map(({ id }) => id);
    for (const { to } of inlines) if (to !== undefined) expect(parts).toContain(to);
  });
});

describe('Markdown as docs/ uses it', () => {
  it('becomes lines with marks', () => {
    expect(
      parseInlines(
        'Choose **Start**, then _Show_: `tokendesk --wipe` (see [Reports](#reports), [more](x.md)).',
      ),
    ).toEqual([
      { kind: 'text', text: 'Choose ' },
      { kind: 'strong', text: 'Start' },
      { kind: 'text', text: ', then ' },
      { kind: 'emphasis', text: 'Show' },
      { kind: 'text', text: ': ' },
      { kind: 'code', text: 'tokendesk --wipe' },
      { kind: 'text', text: ' (see ' },
      { kind: 'link', text: 'Reports', to: 'reports' },
      { kind: 'text', text: ', ' },
      { kind: 'text', text: 'more' },
      { kind: 'text', text: ').' },
    ]);
    expect(parseInlines('source_row and NAME_errors.csv')).toEqual([
      { kind: 'text', text: 'source_row and NAME_errors.csv' },
    ]);
  });

  it('has chapters of headings, lists, tables and paragraphs; no pictures', () => {
    const [chapter] = parseGuide(
      '# Guide\n\n- [One](#one)\n\n## One\n\nA line\nand one more.\n\n![Picture](x.png)\n\n### The case\n\n- first\n  goes on\n- second\n\n| A | B |\n| - | - |\n| 1 | `a\\|b` |\n',
    );
    expect(chapter).toMatchObject({ id: 'one', title: 'One' });
    expect(chapter?.blocks.map(({ kind }) => kind)).toEqual(['paragraph', 'heading', 'list', 'table']);
    expect(chapter?.blocks.map(textOf)).toEqual([
      'A line and one more.',
      'The case',
      'first goes on second',
      'A B 1 a|b',
    ]);
  });
});

describe('help', () => {
  it('has a part for each word with a question mark, and for each failure', () => {
    const parts = guideParts.map(({ id }) => id);
    for (const word of guideWords) expect(parts).toContain(partOfWord(word));
    for (const code of failureCodes) expect(parts).toContain(messagePart(code));
  });

  it('has the administrator’s guide, code and all, and what is new', () => {
    const kinds = chapters.flatMap(({ blocks }) => blocks).filter(({ kind }) => kind === 'code');
    expect(kinds.length).toBeGreaterThan(5);
    expect(chapters.find(({ id }) => id === 'administrator-installing')?.title).toBe('Installing');
    expect(chapters.find(({ id }) => id === 'whats-new')?.blocks.length).toBeGreaterThan(0);
    expect(new Set(guideParts.map(({ id }) => id)).size).toBe(guideParts.length);
  });
});
