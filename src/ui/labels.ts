import { getContext, setContext } from 'svelte';
import type { Labels } from '../messages.ts';

const key = Symbol('labels of definitions');

/** Set once by the window: what the names of definitions are called in sentences. */
export const setLabels = (labels: Labels): void => {
  setContext(key, labels);
};

export const getLabels = (): Labels => getContext<Labels | undefined>(key) ?? ((name) => name);
