import { getContext, setContext } from 'svelte';
import type { StoryQuery } from '../../electron/contract/models/story.ts';

const key = Symbol('story');

/** Opens the story of a token beside the page. */
type OpenStory = (of: StoryQuery['of']) => void;

/** Set once by the window. */
export const setStory = (open: OpenStory): void => {
  setContext(key, open);
};

export const getStory = (): OpenStory | null => getContext<OpenStory | undefined>(key) ?? null;
