import { createSubscriber } from 'svelte/reactivity';

/** The present time in milliseconds, updated once a second while something on the screen reads it. */
const subscribe = createSubscriber((update) => {
  const timer = setInterval(update, 1_000);
  return () => {
    clearInterval(timer);
  };
});

export const clock = {
  get now(): number {
    subscribe();
    return Date.now();
  },
};
