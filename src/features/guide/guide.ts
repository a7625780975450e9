import guideText from '../../../docs/users-guide.md?raw';
import type { PageId } from '../../../electron/contract/pages.ts';
import { allMessages } from '../../messages/messages.ts';
import { parseGuide, textOf, type Chapter } from './markdown.ts';

/** Where the guide opens, by the page that it opens beside. */
const chapterIds: Record<PageId, string> = {
  lookup: 'look-up-one-token',
  batch: 'send-a-spreadsheet',
  reports: 'reports',
  activity: 'see-what-happened',
  connections: 'connections',
  settings: 'lock-and-keys',
  administration: 'administration',
};

/** Every message with what to do. It is made of the messages themselves, so that none is missing. */
function messagesChapter(): Chapter {
  const cell = (text: string) => [{ kind: 'text', text }] as const;
  return {
    id: 'all-messages',
    title: 'All messages',
    blocks: [
      {
        kind: 'paragraph',
        inlines: cell('What a message says, and what to do. Names and numbers are those of your case.'),
      },
      {
        kind: 'table',
        head: [cell('Message'), cell('What to do')],
        rows: allMessages().map(({ summary, advice }) => [cell(summary), cell(advice)]),
      },
    ],
  };
}

/** The user's guide as it is in docs/, of this very version, and the list of all messages. */
export const chapters: readonly Chapter[] = [...parseGuide(guideText), messagesChapter()];

export const chapterOf = (page: PageId): string => chapterIds[page];

/** A part of the guide that a search may lead to: a chapter, or a section within one. */
export interface GuidePart {
  readonly id: string;
  readonly title: string;
  /** In small letters. */
  readonly text: string;
}

export const guideParts: readonly GuidePart[] = chapters.flatMap(({ id, title, blocks }) => {
  const parts: { id: string; title: string; text: string }[] = [{ id, title, text: title }];
  for (const block of blocks) {
    if (block.kind === 'heading') parts.push({ id: block.id, title: block.text, text: title });
    const part = parts.at(-1);
    if (part !== undefined) part.text += ` ${textOf(block)}`;
  }
  return parts.map((part) => ({ ...part, text: part.text.toLowerCase() }));
});
