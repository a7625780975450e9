import changelog from '../../../CHANGELOG.md?raw';
import administratorText from '../../../docs/administrators-guide.md?raw';
import guideText from '../../../docs/users-guide.md?raw';
import type { PageId } from '../../../electron/contract/pages.ts';
import { allMessages } from '../../messages/messages.ts';
import type { Retry } from '../../messages/message.ts';
import { parseGuide, textOf, type Block, type Chapter } from './markdown.ts';

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

const retryTexts: Record<Retry, string> = {
  now: 'Trying again can help.',
  later: 'Trying again helps after a while, not right away.',
  no: 'Trying again helps only once something was changed.',
};

const paragraph = (text: string): Block => ({ kind: 'paragraph', inlines: [{ kind: 'text', text }] });

/** Every message with what to do. It is made of the messages themselves, so that none is missing. */
function messagesChapter(): Chapter {
  return {
    id: 'all-messages',
    title: 'All messages',
    blocks: [
      paragraph('What a message says, and what to do. Names and numbers are those of your case.'),
      ...allMessages().flatMap(({ part, summary, advice, retry }): Block[] => [
        { kind: 'heading', id: part, text: summary },
        paragraph([advice, retryTexts[retry]].filter((text) => text !== '').join(' ')),
      ]),
    ],
  };
}

/** What changed, of the version that is not yet said to be released or of the latest that is. */
function newsChapter(): Chapter {
  const [latest] = parseGuide(changelog);
  return { id: 'whats-new', title: 'What’s new', blocks: latest?.blocks ?? [] };
}

/** The user's guide as it is in docs/, of this very version, and the list of all messages. */
const userChapters: readonly Chapter[] = [...parseGuide(guideText), messagesChapter(), newsChapter()];
const administratorChapters = parseGuide(administratorText, 'administrator-');

export const books: readonly { readonly title: string; readonly chapters: readonly Chapter[] }[] = [
  { title: 'User’s guide', chapters: userChapters },
  { title: 'Administrator’s guide', chapters: administratorChapters },
];

export const chapters: readonly Chapter[] = books.flatMap((book) => book.chapters);

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
