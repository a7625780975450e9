import { getContext, setContext } from 'svelte';
import type { Labels } from '../messages/messages.ts';

const key = Symbol('labels of definitions');

/** Set once by the window: gives a message the label of a definition in place of its name at the service. */
export const setLabels = (labels: Labels): void => {
  setContext(key, labels);
};

export const getLabels = (): Labels => getContext<Labels | undefined>(key) ?? ((name) => name);
