/**
 * Longer, in milliseconds of the processor, than any turn that a person would not notice, on a busy machine too. What is
 * made to be slow takes seconds where it runs in the thread that is asked.
 */
export const noticedTurn = 250;

/**
 * The longest time, in milliseconds of this thread's processor, that `act` kept the event loop to itself. Rejects as
 * `act` does.
 */
export async function longestTurn(act: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  const used = (): number => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  let before = used();
  const tick = (): void => {
    const now = used();
    longest = Math.max(longest, now - before);
    before = now;
  };
  // Turns within a millisecond count as one. At every turn, it would keep a processor busy that others need.
  const ticking = setInterval(tick, 1);
  try {
    await act();
  } finally {
    await new Promise((resolve) => setImmediate(resolve));
    clearInterval(ticking);
    tick();
  }
  return longest;
}
