import { getContext, setContext } from 'svelte';

const key = Symbol('guide');

/** Opens the guide beside the page at one of its parts. */
type OpenGuide = (part: string) => void;

/** Set once by the window; parts of the window that stand where there is no guide have none. */
export const setGuide = (open: OpenGuide): void => {
  setContext(key, open);
};

export const getGuide = (): OpenGuide | null => getContext<OpenGuide | undefined>(key) ?? null;

/** The words that a person can't be expected to know. Each is a heading in the user's guide. */
export const guideWords = [
  'Token definition',
  'Security policy',
  'Service profile',
  'Transfer',
  'RefId',
  'Malformed row',
  'Distinct value',
  'Case',
  'Evidence',
  'Match',
] as const;
export type GuideWord = (typeof guideWords)[number];

export const partOfWord = (word: GuideWord): string => word.toLowerCase().replaceAll(' ', '-');
